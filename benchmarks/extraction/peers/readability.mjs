// Runs Mozilla's Readability inside its own environment, as runner.py does for the peers in Python: JSON lines in,
// JSON lines out. jsdom builds the tree, Readability chooses the content, turndown writes Markdown: the usual three.
// Only these three are timed. Scripts of the page do not run: jsdom leaves them alone unless asked.
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
