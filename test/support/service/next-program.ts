// The program as its next release might be: a copy of it whose link clicks have a raised version and one field more,
// and whose builds are committed every 500 events.
import { cp, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { temporaryFolder } from "../runtime/temporary-folder.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export const NEXT = { name: linkClicks.name, version: linkClicks.version + 1 };

/** Folding an event takes a millisecond, so that tens of thousands give a test the time to look, kill and cancel: until `foldFast`. */
const RAISED = [
  'import { existsSync } from "node:fs";',
  'export * from "./link-clicks-of-now.ts";',
  'import { linkClicks as ofNow } from "./link-clicks-of-now.ts";',
  "const cell = new Int32Array(new SharedArrayBuffer(4));",
  'const isFast = existsSync(new URL("fold-fast", import.meta.url));',
  "export const linkClicks = {",
  "  ...ofNow,",
  "  version: ofNow.version + 1,",
  '  collection: { ...ofNow.collection, name: "link-clicks-next" },',
  "  evolve(document, event, ...rest) {",
  "    if (!isFast) Atomics.wait(cell, 0, 0, 0.9);",
  "    const totals = ofNow.evolve(document, event, ...rest);",
  "    totals.folded = (totals.folded ?? 0) + 1;",
  "    return totals;",
  "  },",
  "};",
];

/** A build would otherwise be committed once, at its end, and a kill would leave nothing to resume. */
const COMMIT = { of: /const CATCH_UP_EVENTS = [\d_]+;/, next: "const CATCH_UP_EVENTS = 500;" };

/** `folder`: where it lies, to be run as ours. */
export type NextProgram = {
  folder: string;
  /** From its next start on, events are folded without delay. */
  foldFast(): Promise<void>;
  remove(): Promise<void>;
};

export async function nextProgram(): Promise<NextProgram> {
  const { path: folder, remove } = await temporaryFolder();
  for (const part of ["src", "package.json"])
    await cp(join(root, part), join(folder, part), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const definitions = join(folder, "src", "projections", "definitions");
  await rename(join(definitions, "link-clicks.ts"), join(definitions, "link-clicks-of-now.ts"));
  await writeFile(join(definitions, "link-clicks.ts"), RAISED.join("\n"));
  const runner = join(folder, "src", "projections", "runner", "runner.ts");
  const code = await readFile(runner, "utf8");
  if (!COMMIT.of.test(code)) throw new Error(`${runner} has no ${COMMIT.of}`);
  await writeFile(runner, code.replace(COMMIT.of, COMMIT.next));
  return { folder, foldFast: () => writeFile(join(definitions, "fold-fast"), ""), remove };
}
