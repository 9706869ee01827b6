// linkledger backup: copies the embedded files while the service runs (restoring: docs/operations.md).
import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { copySqlite } from "../../backend.ts";
import { type Config, parseConfig } from "../../config.ts";
import { DomainError, messageOf } from "../../runtime/errors.ts";
import { openPrivateFolder } from "../../runtime/private-folder.ts";
import { print } from "../output.ts";
import { requireFiles } from "../session.ts";

class BackupRefused extends DomainError {
  override readonly code = "backup_refused";
}

const LOG = "events.db";
/** The others are made when they are first needed; a backup without one of these would be none. */
const EVERY_SERVICE_HAS = new Set([LOG, "secrets.db"]);

export function backupCommand(program: Command): void {
  program
    .command("backup")
    .description("copy the embedded files to a new folder, while the service runs")
    .argument("<folder>", "is made; must not hold anything yet")
    .option("--json", "print one JSON document")
    .action(async (given: string, options: { json?: boolean }) => {
      const folder = resolve(given);
      print({ folder, files: backUp(folder) }, options);
    });
}

function backUp(folder: string): { name: string; bytes: number }[] {
  const config = parseConfig(process.env);
  const { dataDir } = config;
  const names = embeddedFiles(config);
  if (names.length === 0)
    throw new BackupRefused("All data is on EVENTSTORE_URL and MONGODB_URL: use the tools of these servers");
  requireFiles(
    dataDir,
    names.filter((name) => EVERY_SERVICE_HAS.has(name)),
  );
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new BackupRefused(`${folder} is not empty: a backup goes to a folder of its own`);
  openPrivateFolder(folder, () => false);
  try {
    const present = names.filter((name) => existsSync(join(dataDir, name)));
    return present.flatMap((name) => copied(dataDir, folder, name));
  } catch (error) {
    // A part could be taken for a backup, and would be in the way of the next try.
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
    throw error;
  }
}

function copied(dataDir: string, folder: string, name: string): { name: string; bytes: number }[] {
  const [file, copy] = [join(dataDir, name), join(folder, name)];
  try {
    if (name.endsWith(".db")) copySqlite(file, copy);
    else copyFileSync(file, copy);
  } catch (cause) {
    throw new BackupRefused(`${file} can't be copied to ${folder}: ${messageOf(cause)}`, { cause });
  }
  return [{ name, bytes: statSync(copy).size }];
}

/**
 * In the order of copying. The copies are consistent with each other, because later files may hold newer state than
 * earlier ones without harm. Left out: read.db, which is rebuilt from the events, and secret.key when SECRET_KEY is set.
 */
function embeddedFiles(config: Pick<Config, "eventStoreUrl" | "mongodbUrl" | "secretKey">) {
  return [
    ...(config.eventStoreUrl ? [] : [LOG]),
    ...(config.mongodbUrl ? [] : ["deliveries.db", "secrets.db"]),
    ...(config.secretKey ? [] : ["secret.key"]),
  ];
}
