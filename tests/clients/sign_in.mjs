// Sign in at an MCP server with OAuth and call its tool `note`: node sign_in.mjs NODE_MODULES URL
import { pathToFileURL } from "node:url";

const [, , modules, url] = process.argv;
const sdk = await import(pathToFileURL(`${modules}/@modelcontextprotocol/client/dist/index.mjs`));
const callback = "http://127.0.0.1:1/callback";
const kept = {};
const provider = {
  redirectUrl: callback,
  clientMetadata: {
    client_name: "test",
    redirect_uris: [callback],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  redirectToAuthorization: (page) => { kept.page = page.href; },
};

async function connect() {
  const client = new sdk.Client({ name: "test", version: "1" });
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  return { client, transport, connected: client.connect(transport) };
}

const first = await connect();
const refusal = await first.connected.then(() => "", (error) => error.constructor.name);
let page = kept.page;
while (!page.startsWith(callback)) {
  page = (await fetch(page, { redirect: "manual" })).headers.get("location");
}
await first.transport.finishAuth(new URL(page).searchParams);
const second = await connect();
await second.connected;
const result = await second.client.callTool({ name: "note", arguments: { number: 3 } });
await second.client.close();
console.log(JSON.stringify({ refusal, text: result.content[0].text }));
