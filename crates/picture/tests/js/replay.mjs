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
// On a phone and on a wide screen no control is cut off, by the page's edge or by its own.
for (const [width, height] of [[390, 844], [1400, 900]]) {
  await page.setViewportSize({ width, height });
  await page.reload();
  await page.waitForFunction(() => window.kumite && (window.kumite.ready || window.kumite.error), null, { timeout: 60000 });
  await page.waitForTimeout(400);
  const seen = await page.evaluate(() => {
    const clipped = [];
    let count = 0;
    for (const element of document.querySelectorAll("button, input, select, summary, a, label, output, [role]")) {
      const box = element.getBoundingClientRect();
      const style = getComputedStyle(element);
      if (box.width < 1 || box.height < 1 || style.visibility === "hidden" || style.opacity === "0" || !element.checkVisibility()) continue;
      count++;
      const outside = box.left < -0.5 || box.top < -0.5 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5;
      const cut = element.tagName === "BUTTON" && (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1);
      if (outside || cut) clipped.push(`${element.tagName} ${element.id || element.textContent.trim().slice(0, 20)} ${[box.left, box.top, box.right, box.bottom].map(Math.round)}`);
    }
    return { clipped, count, wide: document.documentElement.scrollWidth - innerWidth };
  });
  check(`controls are there at ${width} pixels: ${seen.count}`, seen.count >= 5);
  check(`no control is clipped at ${width} pixels: ${seen.clipped.join("; ")}`, seen.clipped.length === 0);
  check(`nothing is wider than ${width} pixels: ${seen.wide}`, seen.wide <= 0);
  const at = await page.evaluate(() => window.kumite.screen(0, 0));
  const [left, top] = Array.isArray(at) ? at : [at?.x, at?.y];
  check(`somebody is on the page at ${width} pixels: ${JSON.stringify(at)}`, left > 0 && left < width && top > 0 && top < height);
  if (picture) await page.screenshot({ path: picture.replace(/\.png$/, `-${width}.png`) });
}
check(`the console is silent: ${complaints.join("; ")}`, complaints.length === 0);
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
