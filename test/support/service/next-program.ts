// The program as its next release might be: a copy of it whose totals of links have a raised version and one field more,
// and whose builds are committed every 500 events.
import { cp, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { clicks } from "../../../src/projections/groups.ts";
import { temporaryFolder } from "../runtime/temporary-folder.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export const NEXT = { name: clicks.name, version: clicks.version + 1 };

/** Folding an event takes a millisecond, so that tens of thousands give a test the time to look, kill and cancel: until `foldFast`. */
const RAISED = [
  'import { existsSync } from "node:fs";',
  'export * from "./link-totals-of-now.ts";',
  'import { addHits as ofNow } from "./link-totals-of-now.ts";',
  "const cell = new Int32Array(new SharedArrayBuffer(4));",
  'const isFast = existsSync(new URL("fold-fast", import.meta.url));',
  "export function addHits(totals, hits) {",
  "  const all = hits.click + hits.preview + hits.qr_scan;",
  "  if (!isFast) Atomics.wait(cell, 0, 0, 0.9 * all);",
  "  totals.folded = (totals.folded ?? 0) + all;",
  "  return ofNow(totals, hits);",
  "}",
];

/** A build would otherwise be committed once, at its end, and a kill would leave nothing to resume. */
const PAGE = { of: "alone: 4_000", next: "alone: 500" };
const COMMIT = { of: /const MOST_EVENTS = [\d_]+;/, next: "const MOST_EVENTS = 500;" };
const VERSION = {
  of: `name: "${clicks.name}",\n  version: ${clicks.version},`,
  next: `name: "${clicks.name}",\n  version: ${NEXT.version},`,
};

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
  await rename(join(definitions, "link-totals.ts"), join(definitions, "link-totals-of-now.ts"));
  await writeFile(join(definitions, "link-totals.ts"), RAISED.join("\n"));
  const fold = join(folder, "src", "projections", "fold", "fold-build.ts");
  await change(fold, PAGE);
  await change(fold, COMMIT);
  await change(join(folder, "src", "projections", "groups.ts"), VERSION);
  return { folder, foldFast: () => writeFile(join(definitions, "fold-fast"), ""), remove };
}

async function change(file: string, { of, next }: { of: string | RegExp; next: string }): Promise<void> {
  const code = await readFile(file, "utf8");
  const changed = code.replace(of, next);
  if (changed === code) throw new Error(`${file} has no ${of}`);
  await writeFile(file, changed);
}
