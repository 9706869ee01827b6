// `npm start`: the whole service. What it imports statically is loaded before the compile cache is on.
import { keepCompiledCode } from "./runtime/compile-cache.ts";

keepCompiledCode();
const { serveAll } = await import("./cli/serve.ts");
await serveAll();
