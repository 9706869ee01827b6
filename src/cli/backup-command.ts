// linkledger backup: copies the embedded files while the service runs (restoring: docs/operations.md).
import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type Config, parseConfig } from "../config/config.ts";
import { Failure, messageOf } from "../runtime/errors.ts";
import { openPrivateFolder } from "../runtime/private-folder.ts";
import { copySqlite, dataFiles } from "../service/stores/backend.ts";
import type { CommandRow } from "./command.ts";
import { type Call, requireFiles, withoutStores } from "./session.ts";
import type { Work } from "./work.ts";

const MB = 1_000_000;
const SHOW_EVERY_MS = 200;
const LOG = "events.db";
/** A backup without one of these would be none. */
const EVERY_SERVICE_HAS = new Set([LOG, "secrets.db"]);

export const commands: readonly CommandRow[] = [
  {
    name: "backup <folder>",
    about: "copy the embedded files to a new folder, while the service runs",
    args: { folder: "is made; must not hold anything yet" },
    by: withoutStores,
    async run({ work, terminal }: Call, _: object, path: string) {
      const folder = resolve(path);
      const config = parseConfig(terminal.env);
      const outcome = () => `${folder} was emptied again: a backup begins anew`;
      return { folder, files: await work.interruptible(outcome, () => backUp(work, config, folder)) };
    },
  },
];

async function backUp(work: Work, config: Config, folder: string) {
  const { dataDir } = config;
  const servers = "All data is on EVENTSTORE_URL and MONGODB_URL: use the tools of these servers";
  const stored = dataFiles(config);
  if (stored.length === 0) throw new Failure(servers);
  const names = copiedFiles(config);
  // The others are made when they are first needed.
  requireFiles(
    dataDir,
    stored.filter((file) => EVERY_SERVICE_HAS.has(basename(file))),
  );
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Failure(`${folder} is not empty: a backup goes to a folder of its own`);
  openPrivateFolder(folder, () => false);
  const present = names.filter((name) => existsSync(join(dataDir, name)));
  const total = bytesIn(dataDir, present);
  const showing = setInterval(() => {
    const copied = bytesIn(folder, readdirSync(folder));
    // A copy has no free pages, and so may be smaller.
    work.show({ count: Math.floor(copied / MB), unit: "MB", share: Math.min(1, copied / total) });
  }, SHOW_EVERY_MS);
  try {
    const files = [];
    for (const name of present) files.push(await copied(work, dataDir, folder, name));
    return files;
  } catch (error) {
    // A part could be taken for a backup, and would be in the way of the next try.
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
    throw error;
  } finally {
    clearInterval(showing);
  }
}

async function copied({ signal }: Work, dataDir: string, folder: string, name: string) {
  const [file, copy] = [join(dataDir, name), join(folder, name)];
  try {
    if (name.endsWith(".db")) await copySqlite(file, copy, signal);
    else copyFileSync(file, copy);
  } catch (cause) {
    if (signal.aborted) throw cause;
    const why = `${file} can't be copied to ${folder}: ${messageOf(cause)}`;
    throw new Failure(why, { cause });
  }
  return { name, bytes: statSync(copy).size };
}

function bytesIn(folder: string, names: readonly string[]): number {
  const sizes = names.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * In the order of copying. The copies are consistent with each other, because later files may hold newer state than
 * earlier ones without harm. Left out: read.db, which is rebuilt from the events, and secret.key when SECRET_KEY is set.
 */
function copiedFiles({ secretKey }: Config): string[] {
  return [LOG, "deliveries.db", "secrets.db", ...(secretKey ? [] : ["secret.key"])];
}
