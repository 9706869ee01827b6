// Keeps compiled code between starts: compiling the sources anew is half of what a start costs.
import { constants, enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url));

/**
 * For modules that are loaded after the call, in worker threads too. A folder that can't be written is no error: then
 * sources are compiled at each start. Node's own NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE go before it.
 */
export function keepCompiledCode(): void {
  const { status } = enableCompileCache(FOLDER);
  // Worker threads inherit the environment, but not what this process has enabled.
  if (status === constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = FOLDER;
}
