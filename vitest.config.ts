// How tests run: few processes, as the service itself has threads, and room for real disks.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Tests start our programs hundreds of times; compiling them anew each time was half of what that took.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

/** What touches nothing but its own values and folders needs no process of its own. */
const SMALL = ["test/{unit,properties}/**/*.test.ts"];
const ALL = ["test/**/*.test.ts"];

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    // A machine that is busy with other things is slow, not wrong.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    projects: [
      { extends: true, test: { name: "whole", include: ALL, exclude: SMALL } },
      { extends: true, test: { name: "small", include: SMALL, isolate: false } },
    ],
  },
});
