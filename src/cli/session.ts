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
import { messageOf } from "../runtime/errors.ts";
import { createLogger } from "../runtime/logging.ts";
import { Refused } from "../runtime/refused.ts";
import { receiverUrl } from "../webhooks/receiver/receiver-url.ts";
import { type Printable, print } from "./output.ts";
import { Work } from "./work.ts";

/** Of every command that prints an answer. */
export type Json = { json?: boolean };

/** The log of `backend` and `deps` is watched by `work`. */
export type Session = {
  config: Config;
  backend: Backend;
  deps: CliDeps;
  context: CommandContext;
  work: Work;
};

/** What a command answers: a sentence only where it is not asked for JSON, nothing where it has printed by itself. */
export type Answer = Printable | string | undefined;

type CliDeps = ReturnType<typeof depsOf>;

/** Files that are read without locks where nobody uses them (connections/sqlite.ts). */
const EMBEDDED = ["events.db", "read.db", "secrets.db", "deliveries.db"];

/** For a command that only reads: documents as of the end of the log, by default the lifecycle's. Changes nothing. */
export async function runQuery(
  options: Json,
  answer: (session: Session) => Promise<Answer>,
  projections: readonly Projection[] = lifecycleProjections,
): Promise<void> {
  await runReadingStores(async (session) => {
    const { backend, deps } = session;
    const { eventStore, foldStore } = backend;
    const log = createLogger("warn", process.stderr);
    const given = { ...deps, eventStore, readStore: foldStore, log, openScratch: openScratchStore };
    const documents = await currentDocuments(given, projections);
    if (documents === foldStore) return show(session, await answer(session), options);
    try {
      const current = withDocuments(backend, documents);
      show(
        session,
        await answer({ ...session, backend: current, deps: depsOf(session.config, current) }),
        options,
      );
    } finally {
      await documents.close();
    }
  }, options);
}

/** For a command that only reads, of the log or of documents as they are stored. Changes nothing. */
export async function runReading(
  options: Json,
  answer: (session: Session) => Promise<Answer>,
): Promise<void> {
  await runReadingStores(async (session) => show(session, await answer(session), options), options);
}

/** Catches up before and after the command, so that a running server reads what was written; prints the answer. */
export async function runCommand(
  options: Json,
  answer: (session: Session) => Promise<Answer>,
  { mayBeFirst = false } = {},
): Promise<void> {
  const write = async (session: Session) => {
    await catchUp(session);
    const result = await answer(session);
    try {
      await catchUp(session);
    } catch (error) {
      // Only a warning: the answer may hold a key that is shown only once, and the server will project the event.
      process.stderr.write(`warning: not visible yet: ${messageOf(error)}\n`);
    }
    return result;
  };
  await inSession(options, write, mayBeFirst);
}

/** As runCommand; it may be what makes the data folder. */
export async function runFirstCommand(
  options: Json,
  answer: (session: Session) => Promise<Answer>,
): Promise<void> {
  await runCommand(options, answer, { mayBeFirst: true });
}

/** For a command that writes, without catching up projections. */
export async function runWithoutCatchUp(
  options: Json,
  answer: (session: Session) => Promise<Answer>,
): Promise<void> {
  await inSession(options, answer);
}

/** So that the documents have what the command has written. */
export async function catchUp({ backend: { eventStore, foldStore: readStore } }: Session): Promise<void> {
  const log = createLogger("warn", process.stderr);
  await foldActive({ ...runtimeDeps, eventStore, readStore, log }, lifecycleProjections);
}

/** For a command that opens files for itself: its session has nothing but `work`. */
export async function runWithoutStores(
  options: Json,
  answer: (session: Session) => Promise<Answer>,
): Promise<void> {
  const session = { work: new Work(options) } as Session;
  show(session, await answer(session).finally(() => session.work.endLine()), options);
}

function show({ work }: Session, answer: Answer, options: Json): void {
  work.endLine();
  if (answer !== undefined) print(answer, options);
}

async function inSession(
  options: Json,
  answer: (session: Session) => Promise<Answer>,
  mayBeFirst = false,
): Promise<void> {
  const config = mayBeFirst ? parseConfig(process.env) : configWithData();
  const backend = await openBackend(config, { offThread: false });
  const session = sessionOn(config, backend, options);
  try {
    await backend.prepare();
    show(session, await answer(session), options);
  } finally {
    session.work.endLine();
    await backend.close();
  }
}

/**
 * Opens the stores for reading only. Changes nothing.
 * @throws started_meanwhile when what was read may have changed under the reader
 */
async function runReadingStores(use: (session: Session) => Promise<void>, options: Json): Promise<void> {
  const given = configWithData();
  const config = { ...given, secretKey: secretKeyOf(given, { readOnly: true }) };
  const unused = EMBEDDED.map((name) => join(config.dataDir, `${name}-wal`)).filter(
    (wal) => !existsSync(wal),
  );
  const hasStarted = () => unused.some((wal) => existsSync(wal));
  try {
    const backend = await openBackend(config, { offThread: false, readOnly: true });
    const session = sessionOn(config, backend, options);
    try {
      await use(session);
    } finally {
      session.work.endLine();
      await backend.close();
    }
  } catch (cause) {
    // A file that is written while it is read without locks looks damaged.
    throw cause instanceof StoreUnavailable && hasStarted()
      ? new Refused("started_meanwhile", undefined, { cause })
      : cause;
  }
  if (hasStarted()) throw new Refused("started_meanwhile");
}

function sessionOn(config: Config, opened: Backend, options: Json): Session {
  const context: CommandContext = { requestId: runtimeDeps.newId(), actor: { type: "operator" } };
  const work = new Work(options);
  const backend = { ...opened, eventStore: work.watched(opened.eventStore) };
  return { config, backend, deps: depsOf(config, backend), context, work };
}

/**
 * The configuration of a service that has data: of an empty log that is made here the answer would be `ok: true`.
 * @throws BadConfig; no_data
 */
function configWithData(): Config {
  const config = parseConfig(process.env);
  const { eventStoreUrl, dataDir } = config;
  if (!eventStoreUrl) requireFiles(dataDir, ["events.db"]);
  return config;
}

/** @throws no_data, which names the files that are missing */
export function requireFiles(dataDir: string, names: readonly string[]): void {
  const missing = names.filter((name) => !existsSync(join(dataDir, name)));
  if (missing.length === 0) return;
  throw new Refused(
    "no_data",
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
