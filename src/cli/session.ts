// Runs one CLI command against the stores, also beside a running server: opens them, catches up the projections,
// closes.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { CommandContext } from "../commands/caller.ts";
import { txtResolver } from "../commands/domains/hostname.ts";
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { type Config, parseConfig, secretKeyOf } from "../config/config.ts";
import { currentDocuments, type FoldNowDeps, foldQueried } from "../projections/builds/fold-now.ts";
import { lifecycle, type ProjectionGroup } from "../projections/groups.ts";
import { messageOf } from "../runtime/errors.ts";
import { createLogger } from "../runtime/logging.ts";
import { Refused } from "../runtime/refused.ts";
import {
  type Backend,
  dataFiles,
  isServedElsewhere,
  openBackend,
  openScratchStore,
  withDocuments,
} from "../service/stores/backend.ts";
import { StoreUnavailable } from "../stores/connections/errors.ts";
import { receiverUrl } from "../webhooks/receiver/receiver-url.ts";
import type { Printable, Terminal } from "./output.ts";
import type { Work } from "./work.ts";

/** What a command has without any store. */
export type Call = { terminal: Terminal; work: Work; options: Readonly<Record<string, unknown>> };

/** The log of `backend` and `deps` is watched by `work`. */
export type Session = Call & {
  config: Config;
  backend: Backend;
  deps: CliDeps;
  context: CommandContext;
};

/** What a command answers; nothing where it has printed by itself. */
export type Answer = Printable | undefined;

type Run = (session: Session) => Promise<Answer>;

/** One of the functions below: which stores a command gets, and whether it writes to them. */
export type Runner = (call: Call, run: Run) => Promise<Answer>;

type CliDeps = ReturnType<typeof depsOf>;

/** For a command that only reads, of the log or of documents as they are stored. Changes nothing. */
export const runReading: Runner = (call, run) => reading(call, run);

/** For a command that only reads documents of these groups, as of the end of the log. Changes nothing. */
export function queryOf(groups: readonly ProjectionGroup[]): Runner {
  return (call, run) =>
    reading(call, async (session, isInUse) => {
      const { backend, deps, config } = session;
      const isServed = async () => isInUse;
      const given = { ...deps, ...foldDeps(session), isServed, openScratch: openScratchStore };
      const documents = await currentDocuments(given, groups);
      if (documents === backend.foldStore) return await run(session);
      try {
        const current = withDocuments(backend, documents);
        return await run({ ...session, backend: current, deps: depsOf(config, current) });
      } finally {
        await documents.close();
      }
    });
}

/** The same for those of the lifecycle. */
export const runQuery = queryOf([lifecycle]);

/** Catches up before and after the command, so that a running server reads what was written. */
export const runCommand: Runner = (call, run) => writing(call, configWithData(call), caughtUp(run));

/** As runCommand; it may be what makes the data folder. */
export const runFirstCommand: Runner = (call, run) =>
  writing(call, parseConfig(call.terminal.env), caughtUp(run));

/** For a command that writes, without catching up projections. */
export const runWithoutCatchUp: Runner = (call, run) => writing(call, configWithData(call), run);

/** For a command that opens files for itself: its session is a Call. */
export const runWithoutStores: Runner = (call, run) => run(call as Session);

/** So that the documents have what the command has written. */
export async function catchUp(session: Session): Promise<void> {
  await foldQueried(foldDeps(session), lifecycle);
}

/** The unmapped store, where every build has its own collection. */
export function foldDeps({ backend, config, terminal }: Session): FoldNowDeps {
  const { eventStore, foldStore: readStore } = backend;
  const { newId } = runtimeDeps;
  const isServed = () => isServedElsewhere(config, backend);
  return { eventStore, readStore, newId, isServed, log: createLogger("error", terminal.stderr) };
}

function caughtUp(run: Run): Run {
  return async (session) => {
    await catchUp(session);
    const answer = await run(session);
    try {
      await catchUp(session);
    } catch (error) {
      // Only a warning: the answer may hold a key that is shown only once, and the server will project the event.
      warn(session, `not visible yet: ${messageOf(error)}`);
    }
    return answer;
  };
}

/**
 * Opens the stores for reading only. Changes nothing.
 * @throws started_meanwhile when what was read may have changed under the reader
 */
async function reading(
  call: Call,
  run: (session: Session, isInUse: boolean) => Promise<Answer>,
): Promise<Answer> {
  const given = configWithData(call);
  const config = { ...given, secretKey: secretKeyOf(given, { readOnly: true }) };
  // Files that nobody uses are read without locks (connections/sqlite.ts).
  const logs = dataFiles(config).map((file) => `${file}-wal`);
  const unused = logs.filter((wal) => !existsSync(wal));
  const isInUse = unused.length === 0 || unused.length < logs.length;
  const hasStarted = () => unused.some((wal) => existsSync(wal));
  let answer: Answer;
  try {
    const backend = await openBackend(config, { readOnly: true });
    try {
      answer = await run(sessionOn(config, backend, call), isInUse);
    } finally {
      await backend.close();
    }
  } catch (cause) {
    // A file that is written while it is read without locks looks damaged.
    if (cause instanceof StoreUnavailable && hasStarted())
      throw new Refused("started_meanwhile", undefined, { cause });
    throw cause;
  }
  if (hasStarted()) throw new Refused("started_meanwhile");
  return answer;
}

async function writing(call: Call, config: Config, run: Run): Promise<Answer> {
  const backend = await openBackend(config);
  try {
    await backend.prepare();
    return await run(sessionOn(config, backend, call));
  } finally {
    // Only a warning: everything is committed, and the answer may hold a key that is shown only once.
    await backend
      .close()
      .catch((error: unknown) => warn(call, `the stores were not closed: ${messageOf(error)}`));
  }
}

function warn({ terminal }: Call, what: string): void {
  terminal.stderr.write(`warning: ${what}\n`);
}

function sessionOn(config: Config, opened: Backend, call: Call): Session {
  const context: CommandContext = { requestId: runtimeDeps.newId(), actor: { type: "operator" } };
  const backend = { ...opened, eventStore: call.work.watched(opened.eventStore) };
  return { ...call, config, backend, deps: depsOf(config, backend), context };
}

/**
 * The configuration of a service that has data: of an empty log that is made here the answer would be `ok: true`.
 * @throws BadConfig; no_data
 */
function configWithData({ terminal }: Call): Config {
  const config = parseConfig(terminal.env);
  requireFiles(config.dataDir, dataFiles(config).slice(0, 1));
  return config;
}

/** @throws no_data, which names the files that are missing */
export function requireFiles(dataDir: string, files: readonly string[]): void {
  const missing = files.filter((file) => !existsSync(file)).map((file) => basename(file));
  if (missing.length === 0) return;
  throw new Refused(
    "no_data",
    `${dataDir} has no ${missing.join(" and no ")} that this user can read: is it the DATA_DIR of the service?`,
  );
}

function depsOf(config: Config, { eventStore, readStore, secrets, deliveryQueue }: Backend) {
  const { baseHost, baseUrl, keyPrefix, limits } = config;
  const resolveTxt = txtResolver(config.dnsServers);
  const reach = { allowPrivate: config.webhookAllowPrivate };
  const accepted = (url: string) => receiverUrl(url, reach);
  const own = { baseHost, baseUrl, keyPrefix, limits, resolveTxt, receiverUrl: accepted };
  return { ...runtimeDeps, eventStore, readStore, secrets, deliveryQueue, ...own };
}
