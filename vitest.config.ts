// How tests run: few processes, as the service itself has threads, and room for real disks.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Tests start our programs hundreds of times; compiling them anew each time was half of what that took.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    // A machine that is busy with other things is slow, not wrong.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    restoreMocks: true,
  },
});
