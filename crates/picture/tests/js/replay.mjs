// Opens a replay in headless Chromium and uses it as a person would.
//   node replay.mjs FILE.html [SCREENSHOT.png]
// Prints "N passed, N failed"; exits 1 on failure.
import { chromium } from "playwright-core";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [file, picture] = process.argv.slice(2);
const flags = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const profile = mkdtempSync(join(tmpdir(), "kumite-replay-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: flags, viewport: { width: 960, height: 640 },
});
const page = await browser.newPage();
const complaints = [];
page.on("console", (m) => { if (["error", "warning"].includes(m.type())) complaints.push(m.text()); });
page.on("pageerror", (e) => complaints.push(String(e)));
page.on("request", (r) => { if (!r.url().startsWith("file:") && !r.url().startsWith("data:") && !r.url().startsWith("blob:")) complaints.push(`asks for ${r.url()}`); });

let passed = 0, failed = 0;
const check = (what, ok) => { ok ? passed++ : failed++; if (!ok) console.log(`FAILED: ${what}`); };

await page.goto(pathToFileURL(resolve(file)).href + "#t=0");
await page.waitForFunction(() => window.kumite && (window.kumite.ready || window.kumite.error), null, { timeout: 60000 });
const state = () => page.evaluate(() => window.kumite.state());
check("the replay is ready", await page.evaluate(() => window.kumite.ready && !window.kumite.error));
await page.evaluate(() => window.kumite.seek(0.5));
check("seeking goes where it should", Math.abs((await state()).time - 0.5) < 0.05);
const joint = await page.evaluate(() => window.kumite.screen(0, 0));
const [x, y] = Array.isArray(joint) ? joint : [joint?.x, joint?.y];
check(`the first joint is on the page: ${JSON.stringify(joint)}`, x > 0 && x < 960 && y > 0 && y < 640);
await page.keyboard.press("ArrowRight");
check("an arrow steps one frame on", (await state()).time > 0.5);
const before = (await state()).time;
await page.evaluate(() => window.kumite.play());
await page.waitForTimeout(1500);
await page.evaluate(() => window.kumite.pause());
check("playing moves on", (await state()).time !== before);
await page.evaluate(() => window.kumite.seek(0.5));
const shot = await page.screenshot(picture ? { path: picture } : {});
check("something is drawn", shot.length > 20000);
check(`the console is silent: ${complaints.join("; ")}`, complaints.length === 0);
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
