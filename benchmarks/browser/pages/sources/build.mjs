// Build the apps into dist/ with esbuild, and the Next.js pages into dist/next: `node build.mjs`.
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { build } from "esbuild";
import { solidPlugin } from "esbuild-plugin-solid";
import { compile } from "svelte/compiler";

const svelte = {
  name: "svelte",
  setup: ({ onLoad }) => onLoad({ filter: /\.svelte$/ }, ({ path }) => ({
    contents: compile(readFileSync(path, "utf8"), { filename: path, css: "injected" }).js.code,
  })),
};
const common = {
  bundle: true, splitting: true, format: "esm", minify: true, outdir: "dist/apps", target: "es2022",
  define: {
    "process.env.NODE_ENV": '"production"',
    __VUE_OPTIONS_API__: "true", __VUE_PROD_DEVTOOLS__: "false", __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
};
const entry = (...names) => names.map((name) => `apps/${name}`);

rmSync("dist", { recursive: true, force: true });
await build({ ...common, entryPoints: entry("react.jsx"), jsx: "automatic" });
await build({ ...common, entryPoints: entry("solid.jsx"), plugins: [solidPlugin()] });
await build({ ...common, entryPoints: entry("svelte.js"), plugins: [svelte], conditions: ["svelte", "browser"] });
await build({
  ...common, entryPoints: entry("angular.ts"),
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
});
await build({
  ...common,
  entryPoints: entry("vue.js", "lit.js", "preact.js", "alpine.js", "jquery.js", "mithril.js", "turbo.js", "htmx.js", "vanilla.js"),
});
execFileSync("node_modules/.bin/next", ["build", "next"], {
  stdio: ["ignore", 2, 2], env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
});
cpSync("next/out", "dist/next", { recursive: true });
