// Where a CLI command runs: in the service that has the data folder; where none has it, few on stores that they open themselves.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { CommandContext } from "../commands/caller.ts";
import { txtResolver } from "../commands/domains/hostname.ts";
import { smtpMailer } from "../commands/mail/mailer.ts";
import type { MailDeps } from "../commands/mail/people-mails.ts";
import { isRefused, Refused } from "../commands/refusals.ts";
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { type Config, parseConfig, secretKeyOf } from "../config/config.ts";
import { becomeCurrent } from "../projections/builds/await-builds.ts";
import { lifecycle, type ProjectionGroup } from "../projections/groups.ts";
import { accountsOf } from "../queries/people.ts";
import { Failure, messageOf } from "../runtime/errors.ts";
import { type Backend, dataFiles, openBackend } from "../service/stores/backend.ts";
import type { StoreOptions } from "../service/stores/stores.ts";
import { StoreUnavailable } from "../stores/connections/errors.ts";
import { receiverUrl } from "../webhooks/receiver/receiver-url.ts";
import type { Files } from "./files.ts";
import type { Printable, Terminal } from "./output.ts";
import { askService } from "./service/ask-service.ts";
import type { Work } from "./work.ts";

/** What a command has without any store. */
export type Call = {
  /** As they were typed. */
  args: readonly string[];
  /** Of `args` those that are no options, without the command's name. */
  operands: readonly string[];
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

/** One of the functions below: where a command runs, and what it waits for there. */
export type Runner = (call: Call, run: Run) => Promise<Answer>;

type CliDeps = ReturnType<typeof depsOf>;

/** For the projector of a service, which needs a fraction of it. */
const CURRENT_WITHIN_MS = 10_000;

/** For a command that needs the service, and no document that is as new as the log. @throws Failure where none runs */
export const inService: Runner = besideService(async ({ terminal }) => {
  const { dataDir } = parseConfig(terminal.env);
  throw new Failure(
    `No service has DATA_DIR ${dataDir}: start one (linkledger serve), then give this command beside it`,
  );
});

/** For one that answers from documents of these groups, as of the end of the log. @throws documents_behind */
export function queryOf(groups: readonly ProjectionGroup[]): Runner {
  return (call, run) =>
    inService(call, async (session) => {
      await documentsOf(session, groups);
      return await run(session);
    });
}

/** The same for those of the lifecycle. */
export const asQuery = queryOf([lifecycle]);

/** For one that changes something: documents are current when it looks names up, and show what it has done when it ends. */
export const asChange: Runner = (call, run) =>
  inService(call, async (session) => {
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
  });

/** For one that only reads: opens the stores itself where no service runs. Changes nothing. */
export const onStoredData: Runner = besideService(reading);

/** For one that writes to the stores also where no service runs. */
export const onStores: Runner = besideService((call, run) => writing(call, run));

/** The same, where the log that it names is meant to go with the other stores. */
export const onStoresWithLog: Runner = besideService((call, run) =>
  writing(call, run, { adopts: call.operands[0] ?? "" }),
);

/** For a command that opens files for itself, in a process of its own: its session is a Call. @throws Failure */
export const withoutStores: Runner = async (call, run) => {
  if (call.service) throw new Failure("This command runs in a process of its own, not in the service");
  return await run(call as Session);
};

/** `alone`: what is done where no service has the folder. */
function besideService(alone: Runner): Runner {
  return async (call, run) => {
    const { service, terminal, args } = call;
    if (service) return await run(sessionOn(service.config, service.backend, call));
    const code = await askService(parseConfig(terminal.env).dataDir, args, terminal);
    if (code === undefined) return await alone(call, run);
    call.end(code);
    return undefined;
  };
}

/** So that the documents have what the command has written. @throws documents_behind */
export async function catchUp(session: Session): Promise<void> {
  await documentsOf(session, [lifecycle]);
}

/** @throws documents_behind */
async function documentsOf(session: Session, groups: readonly ProjectionGroup[]): Promise<void> {
  const { eventStore, foldStore: readStore } = session.backend;
  if (!(await becomeCurrent({ eventStore, readStore }, groups, CURRENT_WITHIN_MS)))
    throw new Refused("documents_behind");
}

/**
 * Opens the stores for reading only. Changes nothing.
 * @throws Failure when what was read may have changed under the reader
 */
async function reading(call: Call, run: Run): Promise<Answer> {
  const settings = configWithData(call);
  const config = { ...settings, secretKey: secretKeyOf(settings, { readOnly: true }) };
  // Files that nobody uses are read without locks (connections/sqlite.ts).
  const unused = dataFiles(config)
    .map((file) => `${file}-wal`)
    .filter((wal) => !existsSync(wal));
  const hasStarted = () => unused.some((wal) => existsSync(wal));
  const started = "The service was started while this command read its files: run the command again";
  const answer = await onBackend(call, config, { readOnly: true }, run).catch((cause: unknown) => {
    // A file that is written while it is read without locks looks damaged.
    throw cause instanceof StoreUnavailable && hasStarted() ? new Failure(started, { cause }) : cause;
  });
  if (hasStarted()) throw new Failure(started);
  return answer;
}

async function writing(call: Call, run: Run, options: Pick<StoreOptions, "adopts"> = {}): Promise<Answer> {
  return await onBackend(call, configWithData(call), options, async (session) => {
    await session.backend.prepare();
    return await run(session);
  });
}

async function onBackend(call: Call, config: Config, options: StoreOptions, run: Run): Promise<Answer> {
  const backend = await openBackend(config, options);
  try {
    return await run(sessionOn(config, backend, call));
  } finally {
    await backend.close();
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
