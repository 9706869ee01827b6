// Parses the environment variables of the list of settings; no other code reads process.env.
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { SETTINGS, type Setting } from "./config/settings.ts";
import { DomainError } from "./runtime/errors.ts";

/** `problems`: one line for each invalid variable, ready to print. */
export class BadConfig extends DomainError {
  override readonly code = "bad_config";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

type Parsed = { -readonly [Name in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[Name]["read"]> };

/** The parsed settings by their names in SETTINGS. Plain JSON, so that it can be passed to worker threads. */
export type Config = Optional<Omit<Parsed, "baseUrl" | "mailFrom">> & {
  /** Origin of the service's own short links, without a slash at the end. */
  baseUrl: string;
  /** Hostname of `baseUrl`, lower case, without port. */
  baseHost: string;
  mailFrom: string;
};

/** Makes members that may be undefined optional. */
type Optional<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: T[K];
};

const settings: [string, Setting][] = Object.entries(SETTINGS);
const environment = z.object(Object.fromEntries(settings.map(([, { variable, read }]) => [variable, read])));

/**
 * An empty variable counts as unset.
 * @throws BadConfig with one line a problem
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== "");
  const result = environment.safeParse(Object.fromEntries(given));
  if (!result.success) throw new BadConfig(result.error.issues.map((issue) => problem(issue, env)));
  const { data } = result;
  const parsed = Object.fromEntries(settings.map(([name, { variable }]) => [name, data[variable]])) as Parsed;
  if (parsed.port === 0 && !parsed.baseUrl)
    throw new BadConfig(["BASE_URL: must be set when PORT is 0, as the port isn't known beforehand"]);
  if (!parsed.secretKey && (parsed.eventStoreUrl || parsed.mongodbUrl || parsed.redisUrl))
    throw new BadConfig([
      "SECRET_KEY: must be set, to the same value in every process, when EVENTSTORE_URL, MONGODB_URL or REDIS_URL is set",
    ]);
  const base = parsed.baseUrl ?? `http://localhost:${parsed.port}`;
  const baseHost = new URL(base).hostname;
  const mailFrom = parsed.mailFrom ?? `Linkledger <no-reply@${baseHost}>`;
  return { ...parsed, baseUrl: base, baseHost, mailFrom };
}

/** The configuration for the log at the start; secret values are replaced by `(set)`. */
export function describeConfig(config: Config): Record<string, unknown> {
  const hidden = new Set(settings.filter(([, { isSecret }]) => isSecret).map(([name]) => name));
  return Object.fromEntries(
    Object.entries(config)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, hidden.has(name) ? "(set)" : value]),
  );
}

/**
 * The service's own secret: `SECRET_KEY`, else a random one that is created once in the data folder, with mode 0600. The
 * file is created exclusively, so that two processes that start together use the same one. `readOnly`: nothing is created.
 * @throws BadConfig when there is none that can be used
 */
export function secretKeyOf(
  config: Pick<Config, "secretKey" | "dataDir">,
  { readOnly = false } = {},
): string {
  if (config.secretKey) return config.secretKey;
  const file = join(config.dataDir, "secret.key");
  if (!readOnly) makeSecretKey(file);
  if (!existsSync(file)) throw new BadConfig([`SECRET_KEY is unset and there is no ${file}`]);
  const kept = readFileSync(file, "utf8").trim();
  if (kept.length < 32) throw new BadConfig([`SECRET_KEY is unset and ${file} holds no usable secret`]);
  return kept;
}

/** Whether the SECRET_KEY in use is the one that lies in the data folder. */
export function isKeptInDataDir(config: Pick<Config, "secretKey" | "dataDir">): boolean {
  const file = join(config.dataDir, "secret.key");
  if (!existsSync(file)) return false;
  return config.secretKey === undefined || readFileSync(file, "utf8").trim() === config.secretKey;
}

function makeSecretKey(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  chmodSync(file, 0o600);
}

function problem(issue: z.core.$ZodIssue, env: Readonly<Record<string, string | undefined>>): string {
  const name = String(issue.path[0]);
  const isSecret = settings.some(([, setting]) => setting.variable === name && setting.isSecret);
  const value = isSecret ? "" : ` (it is "${env[name]}")`;
  return `${name}${value}: ${issue.message}`;
}
