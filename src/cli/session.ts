// Runs one CLI command: in the service that has the data folder, else on stores that it opens itself.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { CommandContext } from "../commands/caller.ts";
import { txtResolver } from "../commands/domains/hostname.ts";
import { smtpMailer } from "../commands/mail/mailer.ts";
import type { MailDeps } from "../commands/mail/people-mails.ts";
import { isRefused, Refused } from "../commands/refusals.ts";
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { type Config, parseConfig, secretKeyOf } from "../config/config.ts";
import {
  becomeCurrent,
  currentDocuments,
  type FoldNowDeps,
  foldQueried,
} from "../projections/builds/fold-now.ts";
import { lifecycle, type ProjectionGroup } from "../projections/groups.ts";
import { accountsOf } from "../queries/people.ts";
import { Failure, messageOf } from "../runtime/errors.ts";
import { createLogger } from "../runtime/logging.ts";
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
import type { Files } from "./files.ts";
import type { Printable, Terminal } from "./output.ts";
import { askService } from "./service/ask-service.ts";
import type { Work } from "./work.ts";

/** What a command has without any store. `args`: as they were typed. */
export type Call = {
  args: readonly string[];
  options: Readonly<Record<string, unknown>>;
  terminal: Terminal;
  work: Work;
  files: Files;
  /** Undefined in a process of its own. */
  service: Served | undefined;
  /** Of a command that has printed its answer: its exit code. */
  end(code: number): void;
};

/** What the service gives to each command that runs in it. */
export type Served = { config: Config; backend: Backend; files: Files };

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

/** For the projector of a service, which needs a fraction of it. */
const CURRENT_WITHIN_MS = 10_000;

/** `alone`: where no service runs. `served`: what it does in the service besides. */
function runner(alone: Runner, served: (run: Run) => Run = (run) => run): Runner {
  return async (call, run) => {
    const { service, terminal, args } = call;
    if (service) return await served(run)(sessionOn(service.config, service.backend, call));
    const code = await askService(parseConfig(terminal.env).dataDir, args, terminal);
    if (code === undefined) return await alone(call, run);
    call.end(code);
    return undefined;
  };
}

/** For a command that only reads, of the log or of documents as they are stored. Changes nothing. */
export const runReading = runner(reading);

/** For a command that only reads documents of these groups, as of the end of the log. Changes nothing. */
export function queryOf(groups: readonly ProjectionGroup[]): Runner {
  const alone: Runner = (call, run) =>
    reading(call, async (session) => {
      const { backend, config } = session;
      const documents = await currentDocuments(
        { ...foldDeps(session), openScratch: openScratchStore },
        groups,
      );
      if (documents === backend.foldStore) return await run(session);
      try {
        const current = withDocuments(backend, documents);
        return await run({ ...session, backend: current, deps: depsOf(config, current, session) });
      } finally {
        await documents.close();
      }
    });
  return runner(alone, (run) => async (session) => {
    await documentsOf(session, groups);
    return await run(session);
  });
}

/** The same for those of the lifecycle. */
export const runQuery = queryOf([lifecycle]);

/** Its documents are caught up before and after the command. */
export const runCommand = runner((call, run) => writing(call, configWithData(call), caughtUp(run)), caughtUp);

/** As runCommand; it may be what makes the data folder. */
export const runFirstCommand = runner(
  (call, run) => writing(call, parseConfig(call.terminal.env), caughtUp(run)),
  caughtUp,
);

/** For a command that writes, without catching up projections. */
export const runWithoutCatchUp = runner((call, run) => writing(call, configWithData(call), run));

/** For the command whose last argument is the log that is meant to go with the other stores. */
export const adoptLog = runner((call, run) =>
  writing(call, configWithData(call), run, {
    adopts: call.args.findLast((word) => !word.startsWith("-")) ?? "",
  }),
);

/** For a command that opens files for itself, in a process of its own: its session is a Call. @throws Failure */
export const runWithoutStores: Runner = async (call, run) => {
  if (call.service) throw new Failure("This command runs in a process of its own, not in the service");
  return await run(call as Session);
};

/** So that the documents have what the command has written: waits for the service, or folds where none runs. */
export async function catchUp(session: Session): Promise<void> {
  if (session.service) await documentsOf(session, [lifecycle]);
  else await foldQueried(foldDeps(session), lifecycle);
}

/** @throws documents_behind */
async function documentsOf(session: Session, groups: readonly ProjectionGroup[]): Promise<void> {
  if (!(await becomeCurrent(foldDeps(session), groups, CURRENT_WITHIN_MS)))
    throw new Refused("documents_behind");
}

/** The unmapped store, where every build has its own collection. */
export function foldDeps({ backend, terminal, service }: Session): FoldNowDeps {
  const { eventStore, foldStore: readStore } = backend;
  const { newId } = runtimeDeps;
  const isServed = async () => service !== undefined || (await isServedElsewhere(backend));
  return { eventStore, readStore, newId, isServed, log: createLogger("error", terminal.stderr) };
}

function caughtUp(run: Run): Run {
  return async (session) => {
    await catchUp(session).catch((error: unknown) => {
      // Nothing goes by documents alone: without the newest of them a name may not be found.
      if (!isRefused(error, "documents_behind")) throw error;
      warn(session, messageOf(error));
    });
    const answer = await run(session);
    try {
      await catchUp(session);
    } catch (error) {
      // Only a warning: the answer may hold a key that is shown only once, and the service will project the event.
      warn(session, `not visible yet: ${messageOf(error)}`);
    }
    return answer;
  };
}

/**
 * Opens the stores for reading only. Changes nothing.
 * @throws Failure when what was read may have changed under the reader
 */
async function reading(call: Call, run: Run): Promise<Answer> {
  const given = configWithData(call);
  const config = { ...given, secretKey: secretKeyOf(given, { readOnly: true }) };
  // Files that nobody uses are read without locks (connections/sqlite.ts).
  const unused = dataFiles(config)
    .map((file) => `${file}-wal`)
    .filter((wal) => !existsSync(wal));
  const hasStarted = () => unused.some((wal) => existsSync(wal));
  let answer: Answer;
  try {
    const backend = await openBackend(config, { readOnly: true });
    try {
      answer = await run(sessionOn(config, backend, call));
    } finally {
      await backend.close();
    }
  } catch (cause) {
    // A file that is written while it is read without locks looks damaged.
    if (cause instanceof StoreUnavailable && hasStarted())
      throw new Failure("The service was started while this command read its files: run the command again", {
        cause,
      });
    throw cause;
  }
  if (hasStarted())
    throw new Failure("The service was started while this command read its files: run the command again");
  return answer;
}

async function writing(
  call: Call,
  config: Config,
  run: Run,
  options: { adopts?: string } = {},
): Promise<Answer> {
  const backend = await openBackend(config, options);
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
  return { ...call, config, backend, deps: depsOf(config, backend, call), context };
}

/**
 * The configuration of a service that has data: of an empty log that is made here the answer would be `ok: true`.
 * @throws BadConfig; Failure
 */
function configWithData({ terminal }: Call): Config {
  const config = parseConfig(terminal.env);
  requireFiles(config.dataDir, dataFiles(config).slice(0, 1));
  return config;
}

/** @throws Failure, which names the files that are missing */
export function requireFiles(dataDir: string, files: readonly string[]): void {
  const missing = files.filter((file) => !existsSync(file)).map((file) => basename(file));
  if (missing.length === 0) return;
  throw new Failure(
    `${dataDir} has no ${missing.join(" and no ")} that this user can read: is it the DATA_DIR of the service?`,
  );
}

/** Of mails that were not sent: one warning each, as the command has done its work. */
function mailLog(call: Call): MailDeps["log"] {
  return { error: ({ err }, what) => warn(call, `${what}: ${messageOf(err)}`) };
}

function depsOf(config: Config, { eventStore, readStore, secrets, deliveryQueue }: Backend, call: Call) {
  const { baseHost, baseUrl, keyPrefix, limits } = config;
  const resolveTxt = txtResolver(config.dnsServers);
  const reach = { allowPrivate: config.webhookAllowPrivate };
  const accepted = (url: string) => receiverUrl(url, reach);
  const own = { baseHost, baseUrl, keyPrefix, limits, resolveTxt, receiverUrl: accepted };
  const people = { accountsOf: accountsOf({ eventStore, readStore }) };
  const mailing = { mailer: smtpMailer(config), log: mailLog(call) };
  return { ...runtimeDeps, eventStore, readStore, secrets, deliveryQueue, ...people, ...own, ...mailing };
}
