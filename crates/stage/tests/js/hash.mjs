// Prints the hash of a walk as wasm computes it. Usage: node hash.mjs hash.wasm
import { readFile } from "node:fs/promises";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
const hash = BigInt.asUintN(64, instance.exports.hash(7));
console.log(`hash ${hash.toString(16).padStart(16, "0")}`);
