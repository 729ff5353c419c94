// Written by `keyhole install opencode`, which overwrites changes; `--uninstall` deletes this file.
// After each tool call, Keyhole gets the result and answers with what to replace in it. Without an answer, after an
// error or after 10 seconds, the result stays as it is.
import { spawn } from "node:child_process";

const COMMAND = [];
const PREFERS = "";
const SECONDS = 10;
const BUILT_IN = ["webfetch", "websearch"];

const ask = (event, options = []) =>
  new Promise((resolve) => {
    const parts = [];
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), ...options], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
    const finish = (answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      finish("");
    }, SECONDS * 1000);
    child.on("error", () => finish(""));
    child.on("close", (status) => finish(status === 0 ? Buffer.concat(parts).toString("utf8") : ""));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (part) => parts.push(part));
    child.stdin.end(JSON.stringify(event));
  });

// The text that refuses a built-in call for the web, "" to let it run. Only a running server of Keyhole refuses one.
const refuse = async (input, args, directory) => {
  if (!PREFERS || !BUILT_IN.includes(input.tool)) return "";
  try {
    const answer = await ask({ input: { ...input, args }, directory }, ["--prefer", PREFERS]);
    return answer ? JSON.parse(answer).refusal : "";
  } catch {
    return "";
  }
};

export const BoundOutputs = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const refusal = await refuse(input, output.args, directory);
    if (refusal) throw new Error(refusal);
  },
  "tool.execute.after": async (input, output) => {
    try {
      const answer = await ask({ input, output, directory });
      if (answer) Object.assign(output, JSON.parse(answer).output);
    } catch {
      // The result stays as it is.
    }
  },
});
