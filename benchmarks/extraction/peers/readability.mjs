// Run Mozilla's Readability in its own environment, with JSON lines on stdin and stdout as in runner.py.
// jsdom builds the tree, Readability chooses the content and turndown writes Markdown, a usual combination.
// Only these three steps are timed. jsdom does not run the page's scripts by default.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { join } from "node:path";

const load = createRequire(join(process.argv[2], "package.json"));
const { Readability } = load("@mozilla/readability");
const { JSDOM, VirtualConsole } = load("jsdom");
const Turndown = load("turndown");

const writer = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced" });

function extract(html, url) {
  const dom = new JSDOM(html, { url, virtualConsole: new VirtualConsole() });
  try {
    const article = new Readability(dom.window.document).parse();
    return article ? `# ${article.title ?? ""}\n\n${writer.turndown(article.content ?? "")}` : "";
  } finally {
    dom.window.close();
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const page = JSON.parse(line);
  let text = "";
  let error = null;
  const start = performance.now();
  try {
    text = extract(page.html, page.url);
  } catch (problem) {
    error = `${problem.name}: ${problem.message}`.slice(0, 200);
  }
  const ms = performance.now() - start;
  process.stdout.write(JSON.stringify({ text, ms, error }) + "\n");
}
