// Prints hashes as wasm computes them. Usage: node hash.mjs hash.wasm
import { readFile } from "node:fs/promises";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
for (const name of ["wander", "dodges", "walks", "one_world"]) {
  const hash = BigInt.asUintN(64, instance.exports[name](4));
  console.log(`hash ${name} ${hash.toString(16).padStart(16, "0")}`);
}
