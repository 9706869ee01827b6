// The service's process: checks what its start needs, starts the service, and stops it on signals.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { BadConfig, type Config, describeConfig, parseConfig } from "../config/config.ts";
import { unknownSettings } from "../config/unknown-settings.ts";
import { VERSION } from "../config/version.ts";
import { DomainError, messageOf } from "../runtime/errors.ts";
import { createLogger, type Logger } from "../runtime/logging.ts";
import { stopGracefully } from "../runtime/stop/stop-gracefully.ts";
import { ALL_ROLES, answersHttp, type Roles } from "./roles/role.ts";
import { openService, type Service, type ServiceOptions } from "./service.ts";
import { dataFiles } from "./stores/backend.ts";
import { lockDataFolder } from "./stores/data-folder.ts";
import { keepDamagedFiles } from "./stores/made-again.ts";

/** After the stop's own budget, the process is ended. With the default budget of 8 s that is before Docker's 10 s. */
const FORCED_EXIT_MS = 1_000;
const MOST_WORKERS = 64;

export type StartOptions = Pick<ServiceOptions, "roles" | "group" | "listens"> & {
  /** Names the worker in each line of the log. */
  worker?: string;
};

/**
 * Resolves when the service listens. SIGTERM and SIGINT stop it gracefully; a second signal ends the process immediately.
 * A worker ignores them and is stopped by its primary: a signal from both would be a second one.
 * @throws BadConfig when the start fails because of a setting, such as a port in use; else what failed
 */
export async function start(config: Config, options: StartOptions = {}): Promise<Service> {
  const { worker, ...serviceOptions } = options;
  const { roles = ALL_ROLES, group } = serviceOptions;
  const isFirst = dataFiles(config)
    .slice(0, 1)
    .some((file) => !existsSync(file));
  const log = createLogger(config.logLevel).child(worker === undefined ? {} : { worker });
  if (config.geoipDb && roles.has("redirect")) await refuseBadGeo(config.geoipDb);
  if (config.unsafeHostsFile && (roles.has("api") || roles.has("portal")))
    await refuseUnreadableHosts(config.unsafeHostsFile);
  const stopping = new AbortController();
  const ms = config.stopSeconds * 1_000 + FORCED_EXIT_MS;
  const close = stopGracefully({ ms, ignoresSignals: group !== undefined }, async ({ signal, err }) => {
    if (err) log.fatal({ err }, "stopping after an error that nothing caught");
    else log.info({ signal }, "stopping");
    // Before it is opened it may answer redirects already.
    stopping.abort();
    await (await opening).stop();
    log.info("stopped");
  });
  const onStop = () => group?.onStop(close);
  // It seals what the others have answered, also if it is told to stop before it is open.
  if (!answersHttp(roles)) onStop();
  const opening = openService(config, log, { ...serviceOptions, stopping, onListen: onStop });
  const service = await opening.catch((error: unknown) => {
    throw reasonNotToStart(error, config);
  });
  log.info(
    { config: describeConfig(config), roles: [...roles] },
    service.url === ""
      ? `Linkledger ${VERSION} works in the background`
      : `Linkledger ${VERSION} listens on ${service.url}, links begin with ${config.baseUrl}`,
  );
  if (isFirst) greet(log, config);
  return service;
}

/**
 * In one process, or with several `workers` in as many and one more. A data folder that holds something belongs to this
 * process alone: with servers these are the clicks of the redirect role.
 * @throws BadConfig for wrong settings; as start; Failure where DATA_DIR is in use, or a worker ends
 */
export async function startAll(
  env: Readonly<Record<string, string | undefined>>,
  roles: Roles,
  workers: number,
): Promise<void> {
  const config = parseConfig(env);
  for (const line of unknownSettings(env)) createLogger(config.logLevel).warn(line);
  await keepDataFolder(config, roles);
  if (workers === 1) return void (await start(config, { roles }));
  if (!answersHttp(roles))
    throw new BadConfig([
      `--workers: these are processes that answer HTTP; leave it out with --roles ${[...roles].join(",")}`,
    ]);
  const { startWorkers } = await import("./workers/primary.ts");
  await startWorkers({
    config,
    roles,
    workers,
    log: createLogger(config.logLevel).child({ worker: "primary" }),
  });
}

async function keepDataFolder(config: Config, roles: Roles): Promise<void> {
  if (dataFiles(config).length === 0 && !roles.has("redirect")) return;
  try {
    lockDataFolder(config.dataDir);
    if (dataFiles(config).length > 0)
      await keepDamagedFiles(config.dataDir, (message) => createLogger(config.logLevel).error(message));
  } catch (error) {
    throw reasonNotToStart(error, config);
  }
}

/** @throws BadConfig */
export function workersFrom(text: string): number {
  const workers = Number(text);
  if (Number.isInteger(workers) && workers >= 1 && workers <= MOST_WORKERS) return workers;
  throw new BadConfig([`--workers: "${text}" is not a number from 1 to ${MOST_WORKERS}`]);
}

/** Checked here, as the writer thread, which reads the database, could only log the error. */
async function refuseBadGeo(file: string): Promise<void> {
  const { readDatabase } = await import("../redirect/clicks/enrich/geo.ts");
  try {
    readDatabase(file);
  } catch (error) {
    throw new BadConfig([`GEOIP_DB: ${file} can't be read as a MaxMind database (${messageOf(error)})`]);
  }
}

/** Checked here, as links would be made unchecked until somebody reads the warning. */
async function refuseUnreadableHosts(file: string): Promise<void> {
  await readFile(file).catch((error: unknown) => {
    throw new BadConfig([`UNSAFE_HOSTS_FILE: ${file} can't be read (${messageOf(error)})`]);
  });
}

function greet(log: Logger, { baseUrl, signUp, signIn }: Config): void {
  if (signUp === "open" && signIn.includes("password"))
    log.info(`No account yet. Sign up in a browser:  ${baseUrl}/portal/sign-up`);
  log.info("An account on the command line:  bin/linkledger account create --email you@example.com");
}

/** By the code of an error of the file system: why the data folder can't be used, as the end of a sentence. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not",
  EPERM: "this user may not",
  EROFS: "the disk is read-only",
  ENOENT: "it leads to a folder that isn't there",
  ENOTDIR: "a part of its path is a file",
  EEXIST: "a file is there",
  ENOSPC: "the disk is full",
};

function reasonNotToStart(error: unknown, config: Config): unknown {
  const { code } = error as { code?: unknown };
  if (code === "secret_key_unknown") return new BadConfig([`SECRET_KEY: ${messageOf(error)}`]);
  if (code === "other_log" || code === "streams_of_others") return new BadConfig([messageOf(error)]);
  // What can be made again was moved away (stores/made-again.ts).
  if (code === "store_failed")
    return new BadConfig([`DATA_DIR: ${messageOf(error)}: restore it from a backup (docs/operations.md)`]);
  if (code === "file_altered") return new BadConfig([`DATA_DIR: ${messageOf(error)}`]);
  if (code === "EADDRINUSE")
    return new BadConfig([`PORT: ${config.port} on ${config.host} is in use by another program`]);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new BadConfig([`HOST: ${config.host} is not an address of this machine`]);
  const { syscall } = error as { syscall?: string };
  if (syscall === "mkdir" || code === "EACCES" || code === "EPERM" || code === "EROFS") {
    const what =
      syscall === "listen" || syscall === "bind" ? `PORT: ${config.port}` : `DATA_DIR: ${config.dataDir}`;
    return new BadConfig([`${what} can't be used: ${REASONS[String(code)] ?? code}`]);
  }
  return error;
}

/** Prints why `work` has failed, and ends the process with 1. */
export async function orExit(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isOurs = error instanceof DomainError;
    process.stderr.write(
      `linkledger: ${isOurs ? error.message : String((error as Error)?.stack ?? error)}\n`,
    );
    process.exit(1);
  }
}
