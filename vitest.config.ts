// How tests run: few processes, as the service itself has threads, and no limits that a busy machine breaks.
import { statfsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Tests start our programs hundreds of times; compiling them anew each time was half of what that took.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

/** No process but the test's own: `npm run test:unit`. */
const UNIT = ["test/unit/**/*.test.ts"];
/** Files of test/api imported again, on another topology: each needs a process of its own. */
const CLUSTER = ["test/cluster/**/*.test.ts"];
/** Where the disk matters: crashes, load, programs that are built and run there. */
const ON_DISK = [
  "test/{faults,servers}/**/*.test.ts",
  "test/api/load/**/*.test.ts",
  "test/api/docs/webhook-receivers.test.ts",
];
const ALL = ["test/**/*.test.ts"];

const inMemory = memoryFolder();
/** Files share a process, which imports the program once: two thirds of the processor time of one for each. */
const oneProcess = { isolate: false, env: inMemory };

export default defineConfig({
  test: {
    pool: "forks",
    // One more than the two processors of CI, as tests of faults wait for time-outs half of their time.
    maxWorkers: 3,
    // A machine that is busy with other things is slow, not wrong.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    restoreMocks: true,
    // Node loads our files itself, as it does in production: a sixth less processor time than Vite's own loader.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      { extends: true, test: { name: "unit", include: UNIT, ...oneProcess } },
      {
        extends: true,
        test: { name: "service", include: ALL, exclude: [...UNIT, ...CLUSTER, ...ON_DISK], ...oneProcess },
      },
      // Each of these has seven processes beside it.
      { extends: true, test: { name: "cluster", include: CLUSTER, env: inMemory, testTimeout: 180_000 } },
      { extends: true, test: { name: "disk", include: ON_DISK } },
    ],
  },
});

/**
 * Makes temporary folders lie in memory, where a commit waits for no disk: four fifths of the time of a test on SQLite.
 * Nothing where there is no such folder, or as little room as a container has by default.
 */
function memoryFolder(): Record<string, string> {
  const folder = "/dev/shm";
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > 1_000_000_000 ? { TMPDIR: folder } : {};
  } catch {
    return {};
  }
}
