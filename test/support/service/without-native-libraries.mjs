// Preloaded into a program and all its threads: as if npm had found no ready-made native library for this platform.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier.startsWith("@kurrent/bridge-")) throw new Error(`Cannot find module '${specifier}'`);
    return nextResolve(specifier, context);
  },
});
