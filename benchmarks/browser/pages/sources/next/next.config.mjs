import { fileURLToPath } from "node:url";

export default { output: "export", basePath: "/next", turbopack: { root: fileURLToPath(new URL("..", import.meta.url)) } };
