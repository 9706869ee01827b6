// Runs one CLI command against the stores, also beside a running server: opens them, catches up the projections,
// closes.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Backend, openBackend, openScratchStore, withDocuments } from "../backend.ts";
import type { CommandContext } from "../commands/caller.ts";
import { txtResolver } from "../commands/domains/resolve-txt.ts";
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { type Config, parseConfig, secretKeyOf } from "../config.ts";
import { StoreUnavailable } from "../connections/errors.ts";
import { currentDocuments } from "../projections/builds/current-documents.ts";
import { foldActive } from "../projections/builds/fold-active.ts";
import { lifecycleProjections } from "../projections/groups.ts";
import type { Projection } from "../projections/projection.ts";
import { DomainError, messageOf } from "../runtime/errors.ts";
import { createLogger } from "../runtime/logging.ts";
import { receiverUrl } from "../webhooks/receiver/receiver-url.ts";
import { type Printable, print } from "./output.ts";

/** Of every command that prints an answer. */
export type Json = { json?: boolean };

export type Session = { config: Config; backend: Backend; deps: CliDeps; context: CommandContext };

type CliDeps = ReturnType<typeof depsOf>;

type CatchUp = (projections?: readonly Projection[]) => Promise<void>;

class NoData extends DomainError {
  override readonly code = "no_data";
}

class StartedMeanwhile extends DomainError {
  override readonly code = "started_meanwhile";
  constructor(options?: ErrorOptions) {
    super("The service was started while this command read its files: run the command again", options);
  }
}

/** Files that are read without locks where nobody uses them (connections/sqlite.ts). */
const EMBEDDED = ["events.db", "read.db", "secrets.db", "deliveries.db"];

/** For a command that only reads: documents as of the end of the log, by default the lifecycle's. Changes nothing. */
export async function runQuery(
  options: Json,
  answer: (session: Session) => Promise<Printable>,
  projections: readonly Projection[] = lifecycleProjections,
): Promise<void> {
  await runReadingStores(async (session) => {
    const { backend, deps } = session;
    const { eventStore, foldStore } = backend;
    const log = createLogger("warn", process.stderr);
    const given = { ...deps, eventStore, readStore: foldStore, log, openScratch: openScratchStore };
    const documents = await currentDocuments(given, projections);
    if (documents === foldStore) return print(await answer(session), options);
    try {
      print(await answer(sessionOn(session, withDocuments(backend, documents))), options);
    } finally {
      await documents.close();
    }
  });
}

/** For a command that only reads, of the log or of documents as they are stored. Changes nothing. */
export async function runReading(
  options: Json,
  answer: (session: Session) => Promise<Printable>,
): Promise<void> {
  await runReadingStores(async (session) => print(await answer(session), options));
}

/**
 * Catches up before and after the command, so that a running server reads what was written; prints the answer.
 * `mayBeFirst`: it may be what makes the data folder.
 */
export async function runCommand(
  options: Json,
  answer: (session: Session, catchUp: () => Promise<void>) => Promise<Printable>,
  { mayBeFirst = false } = {},
): Promise<void> {
  await inSession(async (session, catchUp) => {
    await catchUp();
    const result = await answer(session, catchUp);
    try {
      await catchUp();
    } catch (error) {
      // Only a warning: the answer may hold a key that is shown only once, and the server will project the event.
      process.stderr.write(`warning: not visible yet: ${messageOf(error)}\n`);
    }
    print(result, options);
  }, mayBeFirst);
}

/** For a command that writes, without catching up projections. */
export async function runWithoutCatchUp(
  options: Json,
  answer: (session: Session) => Promise<Printable>,
): Promise<void> {
  await inSession(async (session) => print(await answer(session), options));
}

async function inSession(
  use: (session: Session, catchUp: CatchUp) => Promise<void>,
  mayBeFirst = false,
): Promise<void> {
  const config = mayBeFirst ? parseConfig(process.env) : configWithData();
  const backend = await openBackend(config, { offThread: false });
  try {
    await backend.prepare();
    const log = createLogger("warn", process.stderr);
    const { eventStore, foldStore: readStore } = backend;
    const folding = { ...runtimeDeps, eventStore, readStore, log };
    await use(sessionOn({ config }, backend), (projections = lifecycleProjections) =>
      foldActive(folding, projections),
    );
  } finally {
    await backend.close();
  }
}

/**
 * For a command that only reads and prints for itself. Changes nothing.
 * @throws StartedMeanwhile when what was read may have changed under the reader
 */
export async function runReadingStores(use: (session: Session) => Promise<void>): Promise<void> {
  const given = configWithData();
  const config = { ...given, secretKey: secretKeyOf(given, { readOnly: true }) };
  const unused = EMBEDDED.map((name) => join(config.dataDir, `${name}-wal`)).filter(
    (wal) => !existsSync(wal),
  );
  const hasStarted = () => unused.some((wal) => existsSync(wal));
  try {
    const backend = await openBackend(config, { offThread: false, readOnly: true });
    try {
      await use(sessionOn({ config }, backend));
    } finally {
      await backend.close();
    }
  } catch (cause) {
    // A file that is written while it is read without locks looks damaged.
    throw cause instanceof StoreUnavailable && hasStarted() ? new StartedMeanwhile({ cause }) : cause;
  }
  if (hasStarted()) throw new StartedMeanwhile();
}

function sessionOn({ config }: Pick<Session, "config">, backend: Backend): Session {
  const context: CommandContext = { requestId: runtimeDeps.newId(), actor: { type: "operator" } };
  return { config, backend, deps: depsOf(config, backend), context };
}

/**
 * The configuration of a service that has data: of an empty log that is made here the answer would be `ok: true`.
 * @throws BadConfig; NoData
 */
export function configWithData(): Config {
  const config = parseConfig(process.env);
  const { eventStoreUrl, dataDir } = config;
  if (!eventStoreUrl) requireFiles(dataDir, ["events.db"]);
  return config;
}

/** @throws NoData, which names the files that are missing */
export function requireFiles(dataDir: string, names: readonly string[]): void {
  const missing = names.filter((name) => !existsSync(join(dataDir, name)));
  if (missing.length === 0) return;
  throw new NoData(
    `${dataDir} has no ${missing.join(" and no ")} that this user can read: is it the DATA_DIR of the service?`,
  );
}

function depsOf(config: Config, { eventStore, readStore, secrets, deliveryQueue }: Backend) {
  const { baseHost, baseUrl, keyPrefix } = config;
  const resolveTxt = txtResolver(config.dnsServers);
  const reach = { allowPrivate: config.webhookAllowPrivate };
  const accepted = (url: string) => receiverUrl(url, reach);
  const own = { baseHost, baseUrl, keyPrefix, resolveTxt, receiverUrl: accepted };
  return { ...runtimeDeps, eventStore, readStore, secrets, deliveryQueue, ...own };
}
