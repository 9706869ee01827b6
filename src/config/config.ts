// Parses the environment variables of the list of settings; no other code reads process.env.

import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { type Limits, SIGN_IN_WAYS, type SignInWay, type Tier } from "../events/vocabulary.ts";
import { DomainError } from "../runtime/errors.ts";
import { makeFolder } from "../runtime/private-folder.ts";
import { commaSeparated } from "./formats.ts";
import { SETTINGS, type Setting } from "./settings.ts";

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

/** Settings that are members of `Config.limits`. */
type LimitSetting =
  | "rateLimitFree"
  | "rateLimitDeveloper"
  | "maxKeysFree"
  | "maxKeysDeveloper"
  | "maxWebhooks";

/** The parsed settings by their names in SETTINGS. Plain JSON, so that it can be passed to worker threads. */
export type Config = Optional<
  Omit<Parsed, "baseUrl" | "mailFrom" | "defaultTier" | "signIn" | LimitSetting>
> & {
  /** Origin of the service's own short links, without a slash at the end. */
  baseUrl: string;
  /** Hostname of `baseUrl`, lower case, without port. */
  baseHost: string;
  mailFrom: string;
  /** Of who signs up in the portal, and of `account create`. */
  defaultTier: Tier;
  signIn: readonly SignInWay[];
  limits: Limits;
};

/** Without a provider. */
const LOCAL_WAYS: readonly SignInWay[] = ["password", "passkey"];

/** Makes members that may be undefined optional. */
type Optional<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: T[K];
};

const settings: [string, Setting][] = Object.entries(SETTINGS);
const MAY_BE_EMPTY = new Set(
  settings.filter(([, { mayBeEmpty }]) => mayBeEmpty).map(([, { variable }]) => variable),
);
const environment = z.object(Object.fromEntries(settings.map(([, { variable, read }]) => [variable, read])));

/**
 * An empty variable counts as unset, but where nothing is a value.
 * @throws BadConfig with one line a problem
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const entries = Object.entries(env).filter(
    ([name, value]) => value !== undefined && (value.trim() !== "" || MAY_BE_EMPTY.has(name)),
  );
  const set = Object.fromEntries(entries);
  const { data, error } = environment.safeParse(set);
  const problems = [...(error?.issues.map((issue) => problem(issue, env)) ?? []), ...missing(set)];
  if (!data || problems.length > 0) throw new BadConfig(problems);
  const parsed = Object.fromEntries(settings.map(([name, { variable }]) => [name, data[variable]])) as Parsed;
  const base = parsed.baseUrl ?? `http://localhost:${parsed.port}`;
  const baseHost = new URL(base).hostname;
  const mailFrom = parsed.mailFrom ?? `Linkledger <no-reply@${baseHost}>`;
  const defaultTier = parsed.defaultTier ?? (parsed.eventStoreUrl || parsed.planPrice ? "free" : "developer");
  const { rateLimitFree, rateLimitDeveloper, maxKeysFree, maxKeysDeveloper, maxWebhooks, ...others } = parsed;
  const limits = {
    free: { requestsPerHour: rateLimitFree, activeKeys: maxKeysFree },
    developer: { requestsPerHour: rateLimitDeveloper, activeKeys: maxKeysDeveloper },
    webhooks: maxWebhooks,
  };
  const baseHostSlugs = parsed.baseHostSlugs || parsed.signUp === "closed";
  const signIn = parsed.signIn ?? (parsed.oidcIssuer ? SIGN_IN_WAYS : LOCAL_WAYS);
  return { ...others, baseUrl: base, baseHost, mailFrom, defaultTier, signIn, limits, baseHostSlugs };
}

/** For the log at the start: where the data is, and what is not as by default; of secrets that they are `(set)`. */
export function describeConfig(config: Config): Record<string, unknown> {
  const usual: Partial<Record<string, unknown>> = { ...parseConfig({}), dataDir: undefined };
  const hidden = new Set(settings.filter(([, { isSecret }]) => isSecret).map(([name]) => name));
  return Object.fromEntries(
    Object.entries(config)
      .filter(([name, value]) => value !== undefined && !isDeepStrictEqual(value, usual[name]))
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

/** The present one first, then the one before, if there is one: what was signed under it stays good. */
export function secretKeysOf(
  config: Pick<Config, "secretKey" | "secretKeyPrevious" | "dataDir">,
): [string, ...string[]] {
  const [secretKey, previous] = [secretKeyOf(config), config.secretKeyPrevious];
  return previous === undefined || previous === secretKey ? [secretKey] : [secretKey, previous];
}

/** Whether the SECRET_KEY in use is the one that lies in the data folder. */
export function isKeptInDataDir(config: Pick<Config, "secretKey" | "dataDir">): boolean {
  const file = join(config.dataDir, "secret.key");
  if (!existsSync(file)) return false;
  return config.secretKey === undefined || readFileSync(file, "utf8").trim() === config.secretKey;
}

function makeSecretKey(file: string): void {
  makeFolder(dirname(file), 0o700);
  try {
    writeFileSync(file, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  chmodSync(file, 0o600);
}

/** What must be set because of other settings. */
function missing(set: Readonly<Record<string, string | undefined>>): string[] {
  const isPortOpen = set.PORT !== undefined && Number(set.PORT) === 0;
  const servers = ["EVENTSTORE_URL", "MONGODB_URL", "REDIS_URL"];
  const unset = servers.filter((name) => set[name] === undefined);
  const onServers = unset.length < servers.length;
  const signsInAtProvider = commaSeparated(set.SIGN_IN ?? "").includes("oidc");
  const believed = ["CLIENT_IP_HEADER", "CLIENT_COUNTRY_HEADER"].filter((name) => set[name] !== undefined);
  const trustsNobody = commaSeparated(set.TRUST_PROXY ?? "").length === 0;
  return [
    ...(trustsNobody
      ? believed.map(
          (name) => `TRUST_PROXY must be set with ${name}, which is believed from these proxies only`,
        )
      : []),
    ...(set.OIDC_ISSUER !== undefined && set.OIDC_CLIENT_ID === undefined
      ? ["OIDC_CLIENT_ID must be set with OIDC_ISSUER"]
      : []),
    ...(signsInAtProvider && set.OIDC_ISSUER === undefined
      ? ["OIDC_ISSUER must be set with SIGN_IN=oidc"]
      : []),
    ...(set.OIDC_GROUPS !== undefined && set.OIDC_GROUPS_CLAIM === undefined
      ? ["OIDC_GROUPS_CLAIM must be set with OIDC_GROUPS"]
      : []),
    ...(isPortOpen && set.BASE_URL === undefined
      ? ["BASE_URL must be set when PORT is 0, as the port isn't known beforehand"]
      : []),
    ...(onServers && unset.length > 0
      ? [
          `EVENTSTORE_URL, MONGODB_URL and REDIS_URL go together, all or none: ${unset.join(" and ")} must be set, too`,
        ]
      : []),
    ...(onServers && set.SECRET_KEY === undefined
      ? [
          "SECRET_KEY must be set, to the same value in every process, with EVENTSTORE_URL, MONGODB_URL and REDIS_URL",
        ]
      : []),
  ];
}

/** One line: `PORT must be a whole number from 0 to 65535, not "abc"`. Of secrets, and of passwords in URLs, no value. */
function problem({ path, message }: z.core.$ZodIssue, env: Readonly<Record<string, string | undefined>>) {
  const name = String(path[0]);
  const isSecret = settings.some(([, setting]) => setting.variable === name && setting.isSecret);
  const value = JSON.stringify(env[name]?.replace(/\/\/[^/@]*@/, "//(hidden)@"));
  return isSecret ? `${name} ${message}` : `${name} ${message}, not ${value}`;
}
