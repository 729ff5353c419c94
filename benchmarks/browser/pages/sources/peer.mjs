// Render pages with Playwright as crawl4ai does: `node peer.mjs CHROMIUM`, a request and an answer per line.
// A request is { url, mode, fresh }. Mode "domcontentloaded" is crawl4ai's default: it waits for that event and for a
// visible body, then 0.1 s. Mode "networkidle" waits for half a second without requests. The time of a fresh page includes the start of its browser.
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const FLAGS = [
  "--disable-gpu", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--no-default-browser-check",
  "--disable-infobars", "--ignore-certificate-errors", "--disable-blink-features=AutomationControlled",
  "--window-position=400,0", "--mute-audio", "--disable-quic",
];
const TIMEOUT = 10_000;
const isVisible = () => {
  const style = getComputedStyle(document.body);
  return style.display !== "none" && style.visibility !== "hidden" && style.opacity !== "0";
};

const launch = async () => {
  const browser = await chromium.launch({ executablePath: process.argv[2], args: FLAGS });
  return { browser, context: await browser.newContext({ viewport: { width: 1080, height: 600 } }) };
};

async function render(context, { url, mode }) {
  const page = await context.newPage();
  try {
    await page.goto(url, { waitUntil: mode, timeout: TIMEOUT });
    await page.waitForSelector("body", { state: "attached", timeout: TIMEOUT });
    await page.waitForFunction(isVisible, null, { timeout: TIMEOUT });
    await page.waitForTimeout(100);
    return { html: await page.content() };
  } catch (error) {
    return { html: await page.content(), error: error.message };
  } finally {
    await page.close();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const launched = request.fresh ? null : await launch();
  const start = performance.now();
  const { browser, context } = launched ?? (await launch());
  const answer = await render(context, request);
  answer.seconds = (performance.now() - start) / 1000;
  await browser.close();
  console.log(JSON.stringify(answer));
}
