// Use two servers behind the proxy with the TypeScript SDK: node mixed_eras_client.mjs NODE_MODULES MODE FILE COMMAND…
// Prints as JSON what the client saw. FILE is the file that the server of files reads.
import { pathToFileURL } from "node:url";

const [, , modules, mode, file, command, ...args] = process.argv;
const folder = `${modules}/@modelcontextprotocol/client/dist`;
const { Client } = await import(pathToFileURL(`${folder}/index.mjs`));
const { StdioClientTransport } = await import(pathToFileURL(`${folder}/stdio.mjs`));

const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: mode.startsWith("2") ? { pin: mode } : mode } });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" }));
const call = async (name, given) => (await client.callTool({ name, arguments: given })).content[0].text;
const seen = {
  version: client.getNegotiatedProtocolVersion(),
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((each) => each.uriTemplate),
  sum: await call("sums_add", { a: 2, b: 3 }),
  "same name": await call("sums_read_file", { path: "x" }),
  file: await call("files_read_text_file", { path: file }),
  resource: (await client.readResource({ uri: "keyhole:sums:data://x" })).contents[0].text,
  prompt: (await client.getPrompt({ name: "sums_greet", arguments: { name: "me" } })).messages[0].content.text,
};
await client.close();
console.log(JSON.stringify(seen));
