// Keeps compiled code between starts: `--import` loads this before the program. It is JavaScript, as Node's compiler for
// TypeScript, which files from the cache do without, takes longer to load than most of our commands.
import { constants, enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url));

// A folder that can't be written is no error. NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE go before it.
const { status } = enableCompileCache(folder);
// Worker threads inherit the environment, but not what this process has enabled.
if (status === constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = folder;
