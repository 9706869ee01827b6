// Every environment variable, parsed once (DESIGN §8); nothing else reads process.env.
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import {
  baseUrl,
  isDnsServer,
  isEventStoreUrl,
  isMongodbUrl,
  isProxyRange,
  isRedisUrl,
  list,
  readsAtLeader,
} from "./config-formats.ts";
import { DomainError } from "./errors.ts";

/** One line for each variable that can't be used, ready to print. */
export class BadConfig extends DomainError {
  override readonly code = "bad_config";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  HOST: z.string().default("127.0.0.1"),
  BASE_URL: z.string().transform(baseUrl).optional(),
  DATA_DIR: z.string().default("./data"),
  EVENTSTORE_URL: z
    .string()
    .refine(isEventStoreUrl, "must be an EventStoreDB connection string such as esdb://host:2113?tls=false")
    .refine(readsAtLeader, "nodePreference must be leader (the default): another node may lag behind the log")
    .optional(),
  EVENTSTORE_PREFIX: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9_.]{0,62}$/,
      "must be letters, digits, dots and underscores, such as staging_",
    )
    .default(""),
  MONGODB_URL: z
    .string()
    .refine(isMongodbUrl, "must be a MongoDB connection string such as mongodb://host:27017/linkledger")
    .optional(),
  REDIS_URL: z.string().refine(isRedisUrl, "must be a Redis address such as redis://host:6379").optional(),
  KEY_PREFIX: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9]{0,15}$/, "must be 1 to 16 letters and digits, a letter first")
    .default("ll"),
  TRUST_PROXY: list(isProxyRange, "must be addresses or CIDRs, comma separated, such as 10.0.0.0/8"),
  GEOIP_DB: z.string().optional(),
  CLICK_DURABILITY: z.enum(["batched", "durable"]).default("batched"),
  CLICK_SPOOL_MB: z.coerce.number().int().min(1).default(4096),
  UNSAFE_HOSTS_FILE: z.string().optional(),
  SAFE_BROWSING_KEY: z.string().optional(),
  SAFE_BROWSING_URL: z.url({ protocol: /^https?$/, error: "must be an http or https address" }).optional(),
  DNS_SERVERS: list(isDnsServer, "must be IP addresses, comma separated, each with an optional port"),
  WEBHOOK_ALLOW_PRIVATE: z
    .enum(["true", "false", "1", "0"], "must be true or false")
    .default("false")
    .transform((value) => value === "true" || value === "1"),
  TLS_ASK_SECRET: z.string().min(16, "must be at least 16 characters").optional(),
  ADMIN_TOKEN: z.string().min(16, "must be at least 16 characters").optional(),
  SECRET_KEY: z.string().min(32, "must be at least 32 characters").optional(),
  SECRET_KEY_PREVIOUS: z.string().min(32, "must be at least 32 characters").optional(),
  SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\/[^\s/]+/, "must be smtp://user:password@host:port or smtps://...")
    .optional(),
  MAIL_FROM: z.string().optional(),
  STOP_SECONDS: z.coerce.number().min(1).max(600).default(8),
  LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
});

/** Every name that is read from the environment. */
export const ENVIRONMENT_NAMES: readonly string[] = Object.keys(environment.shape);

/** Plain JSON, so that it can be handed to worker threads. */
export type Config = {
  port: number;
  host: string;
  /** Origin of the service's own short links, without a slash at the end. */
  baseUrl: string;
  /** Hostname of `baseUrl`, lower case, without port. */
  baseHost: string;
  dataDir: string;
  eventStoreUrl?: string | undefined;
  /** Before the names of streams in EventStoreDB. */
  eventStorePrefix: string;
  mongodbUrl?: string | undefined;
  redisUrl?: string | undefined;
  /** What API keys begin with: `<keyPrefix>_<32 characters>`. */
  keyPrefix: string;
  /** Peers whose X-Forwarded-For is believed; none by default. */
  trustProxy: string[];
  geoipDb?: string | undefined;
  clickDurability: "batched" | "durable";
  /** Most megabytes (1,048,576 bytes) of clicks that may wait on disk for an event store that is away. */
  clickSpoolMb: number;
  unsafeHostsFile?: string | undefined;
  safeBrowsingKey?: string | undefined;
  /** Where the look-up (v4, threatMatches:find) is; Google's own by default. */
  safeBrowsingUrl?: string | undefined;
  dnsServers: string[];
  webhookAllowPrivate: boolean;
  /** Shown by a TLS proxy on another machine when it asks for which names it may get certificates. */
  tlsAskSecret?: string | undefined;
  adminToken?: string | undefined;
  secretKey?: string | undefined;
  /** Read with, never written with, while secrets are brought under another SECRET_KEY. */
  secretKeyPrevious?: string | undefined;
  /** Without it no mail is sent, and who lost a password needs the operator. */
  smtpUrl?: string | undefined;
  /** Sender of the service's mail. */
  mailFrom: string;
  /** For the whole stop, from the signal to the end of the process. */
  stopSeconds: number;
  logLevel: (typeof LOG_LEVELS)[number];
};

/**
 * An empty variable counts as unset.
 * @throws BadConfig with one line a problem
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== "");
  const result = environment.safeParse(Object.fromEntries(given));
  if (!result.success) throw new BadConfig(result.error.issues.map((issue) => problem(issue, env)));
  const parsed = result.data;
  if (parsed.PORT === 0 && !parsed.BASE_URL)
    throw new BadConfig(["BASE_URL: must be set when PORT is 0, as the port isn't known beforehand"]);
  if (!parsed.SECRET_KEY && (parsed.EVENTSTORE_URL || parsed.MONGODB_URL || parsed.REDIS_URL))
    throw new BadConfig([
      "SECRET_KEY: must be set, to the same value in every process, when EVENTSTORE_URL, MONGODB_URL or REDIS_URL is set",
    ]);
  const base = parsed.BASE_URL ?? `http://localhost:${parsed.PORT}`;
  return {
    port: parsed.PORT,
    host: parsed.HOST,
    baseUrl: base,
    baseHost: new URL(base).hostname,
    dataDir: resolve(parsed.DATA_DIR),
    eventStoreUrl: parsed.EVENTSTORE_URL,
    eventStorePrefix: parsed.EVENTSTORE_PREFIX,
    mongodbUrl: parsed.MONGODB_URL,
    redisUrl: parsed.REDIS_URL,
    keyPrefix: parsed.KEY_PREFIX,
    trustProxy: parsed.TRUST_PROXY,
    geoipDb: parsed.GEOIP_DB,
    clickDurability: parsed.CLICK_DURABILITY,
    clickSpoolMb: parsed.CLICK_SPOOL_MB,
    unsafeHostsFile: parsed.UNSAFE_HOSTS_FILE,
    safeBrowsingKey: parsed.SAFE_BROWSING_KEY,
    safeBrowsingUrl: parsed.SAFE_BROWSING_URL,
    dnsServers: parsed.DNS_SERVERS,
    webhookAllowPrivate: parsed.WEBHOOK_ALLOW_PRIVATE,
    tlsAskSecret: parsed.TLS_ASK_SECRET,
    adminToken: parsed.ADMIN_TOKEN,
    secretKey: parsed.SECRET_KEY,
    secretKeyPrevious: parsed.SECRET_KEY_PREVIOUS,
    smtpUrl: parsed.SMTP_URL,
    mailFrom: parsed.MAIL_FROM ?? `Linkledger <no-reply@${new URL(base).hostname}>`,
    stopSeconds: parsed.STOP_SECONDS,
    logLevel: parsed.LOG_LEVEL,
  };
}

/** The configuration for the start log: what is secret shows only that it is set. */
export function describeConfig(config: Config): Record<string, unknown> {
  const hidden = [
    "adminToken",
    "tlsAskSecret",
    "secretKey",
    "secretKeyPrevious",
    "safeBrowsingKey",
    "safeBrowsingUrl",
    "smtpUrl",
    "eventStoreUrl",
    "mongodbUrl",
    "redisUrl",
  ];
  return Object.fromEntries(
    Object.entries(config)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, hidden.includes(name) ? "(set)" : value]),
  );
}

/**
 * The service's own secret: `SECRET_KEY`, else one that is made at first use and kept in the data folder for its
 * owner only. Two processes that start at once end up with the same one.
 */
export function secretKeyOf(config: Pick<Config, "secretKey" | "dataDir">): string {
  if (config.secretKey) return config.secretKey;
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const file = join(config.dataDir, "secret.key");
  try {
    writeFileSync(file, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  chmodSync(file, 0o600);
  const kept = readFileSync(file, "utf8").trim();
  if (kept.length < 32) throw new BadConfig([`SECRET_KEY is unset and ${file} holds no usable secret`]);
  return kept;
}

function problem(issue: z.core.$ZodIssue, env: Readonly<Record<string, string | undefined>>): string {
  const name = String(issue.path[0]);
  const value = /TOKEN|SECRET|KEY$|_URL$/.test(name) && name !== "BASE_URL" ? "" : ` (it is "${env[name]}")`;
  return `${name}${value}: ${issue.message}`;
}
