// The service's process: reads the configuration, starts the service, and stops it on signals.
import { existsSync } from "node:fs";
import { join } from "node:path";
import closeWithGrace from "close-with-grace";
import { BadConfig, type Config, describeConfig, parseConfig } from "./config.ts";
import { ALL_ROLES, type Roles } from "./roles/role.ts";
import { messageOf } from "./runtime/errors.ts";
import { createLogger, type Logger } from "./runtime/logging.ts";
import { makeFilesPrivate } from "./runtime/private-folder.ts";
import { SecretKeyUnknown } from "./secrets/keyring.ts";
import { openService, type Service } from "./service.ts";

/** After the stop's own budget, the process is ended. With the default budget of 8 s that is before Docker's 10 s. */
const FORCED_EXIT_MS = 1_000;

/**
 * Resolves when the service listens. SIGTERM and SIGINT stop it gracefully; a second signal ends the process immediately.
 * @throws BadConfig when the start fails because of a setting, such as a port in use; else what failed
 */
export async function start(config: Config, roles: Roles = ALL_ROLES): Promise<Service> {
  const isFirst = !config.eventStoreUrl && !existsSync(join(config.dataDir, "events.db"));
  const log = createLogger(config.logLevel);
  if (config.geoipDb && roles.has("redirect")) await refuseBadGeo(config.geoipDb);
  const service = await openService(config, log, { roles }).catch((error: unknown) => {
    throw reasonNotToStart(error, config);
  });
  const delay = config.stopSeconds * 1_000 + FORCED_EXIT_MS;
  closeWithGrace({ delay, logger: false }, async ({ signal, err }) => {
    if (err) log.fatal({ err }, "stopping after an error that nothing caught");
    else log.info({ signal }, "stopping");
    await service.stop();
    log.info("stopped");
  });
  log.info(
    { config: describeConfig(config), roles: [...roles] },
    `Linkledger listens on ${service.url}, links begin with ${config.baseUrl}`,
  );
  if (isFirst) greet(log, config.baseUrl);
  return service;
}

/** Checked here, as the recorder thread, which reads the database, could only log the error. */
async function refuseBadGeo(file: string): Promise<void> {
  const { openGeo } = await import("./redirect/clicks/enrich/geo.ts");
  try {
    openGeo(file);
  } catch (error) {
    throw new BadConfig([`GEOIP_DB: ${file} can't be read as a MaxMind database (${messageOf(error)})`]);
  }
}

function greet(log: Logger, baseUrl: string): void {
  log.info(`No account yet. Sign up in a browser:  ${baseUrl}/portal/sign-up`);
  log.info("Or on the command line:  npm run -s linkledger -- account create --email you@example.com");
}

function reasonNotToStart(error: unknown, config: Config): unknown {
  if (error instanceof SecretKeyUnknown) return new BadConfig([`SECRET_KEY: ${error.message}`]);
  const { code } = error as { code?: unknown };
  if (code === "EADDRINUSE")
    return new BadConfig([`PORT: ${config.port} on ${config.host} is in use by another program`]);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new BadConfig([`HOST: ${config.host} is not an address of this machine`]);
  if (code === "EACCES" || code === "EPERM" || code === "EROFS" || code === "ENOTDIR" || code === "EEXIST") {
    const what =
      (error as { syscall?: string }).syscall === "listen"
        ? `PORT: ${config.port}`
        : `DATA_DIR: ${config.dataDir}`;
    return new BadConfig([`${what} can't be used (${code})`]);
  }
  return error;
}

if (import.meta.main) {
  makeFilesPrivate();
  try {
    await start(parseConfig(process.env));
  } catch (error) {
    const known = error instanceof BadConfig;
    process.stderr.write(`linkledger: ${known ? error.message : String((error as Error)?.stack ?? error)}\n`);
    process.exit(1);
  }
}
