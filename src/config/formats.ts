// The formats of environment variables: their zod schemas and the checks of addresses, lists and connection strings.
import { isIP } from "node:net";
import { z } from "zod";
import { ROLES, type Role, SIGN_IN_WAYS, type SignInWay, TIERS } from "../events/vocabulary.ts";
import { redisAddress } from "../stores/connections/sentinel-url.ts";

export const text = z.string();
export const port = number(0, 65_535).default(3000);
export const clickJournalMb = number(1).default(4096);
export const stopSeconds = number(1, 600).default(8);
export const baseUrl = text.transform(originOf).optional();
export const token = text.min(16, "must be at least 16 characters").optional();
export const secretKey = text.min(32, "must be at least 32 characters").optional();
export const keyPrefix = text
  .regex(/^[A-Za-z][A-Za-z0-9]{0,15}$/, "must be 1 to 16 letters and digits, a letter first")
  .default("ll");
export const trustProxy = list(
  isProxyRange,
  "must be addresses, CIDRs (not /0), loopback, linklocal or uniquelocal, comma separated",
);
export const clientIpHeader = text
  .regex(
    /^(?!x-forwarded-for$)[a-z][a-z\d-]{0,63}$/i,
    "must be the name of a header such as CF-Connecting-IP (X-Forwarded-For is read without it)",
  )
  .optional();
export const clientCountryHeader = text
  .regex(/^[a-z][a-z\d-]{0,63}$/i, "must be the name of a header such as CF-IPCountry")
  .optional();
export const dnsServers = list(
  isDnsServer,
  "must be IP addresses, comma separated, each with an optional port",
);
export const eventStoreUrl = text
  .refine(
    isEventStoreUrl,
    "must be a connection string such as kurrentdb://host:2113?tls=false or esdb://host:2113?tls=false",
  )
  .refine(readsAtLeader, "must have nodePreference leader (the default): another node may lag behind the log")
  .optional();
export const eventStorePrefix = text
  .regex(
    /^([A-Za-z0-9][A-Za-z0-9_.]{0,62})?$/,
    "must be letters, digits, dots and underscores, such as staging_",
  )
  .default("linkledger_");
export const mongodbUrl = text
  .refine(isMongodbUrl, "must be a MongoDB connection string such as mongodb://host:27017/linkledger")
  .refine(readsAtPrimary, "must have readPreference primary (the default): another member may lag behind")
  .optional();
export const redisUrl = text
  .refine(
    (url) => redisAddress(url) !== undefined,
    "must be a Redis address such as redis://host:6379, unix:///run/redis.sock or redis+sentinel://host:26379,host:26379/mymaster",
  )
  .optional();
export const smtpUrl = text
  .regex(/^smtps?:\/\/[^\s/]+/, "must be smtp://user:password@host:port or smtps://...")
  .optional();
export const mailFrom = text
  .regex(
    /^([^<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
    "must be an address such as no-reply@example.com or Example <no-reply@example.com>",
  )
  .optional();
export const flag = z
  .enum(["true", "false", "1", "0"], "must be true or false")
  .default("false")
  .transform((value) => value === "true" || value === "1");
export const logLevel = oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info");
export const signUp = oneOf(["open", "closed"]).default("open");
export const defaultTier = oneOf(TIERS).optional();
export const signIn = text
  .transform(commaSeparated)
  .refine(
    (ways): ways is SignInWay[] => ways.length > 0 && ways.every((way) => isOneOf(SIGN_IN_WAYS, way)),
    "must be password, passkey and oidc, or some of them, comma separated",
  )
  .optional();
export const sessionHours = number(1, 8_760).default(720);
/** Kept as it is typed, as it is compared exactly. Without TLS nothing says whose answers they are. */
export const oidcIssuer = text
  .refine(
    isIssuer,
    "must be the provider's https address, without query and without /.well-known/ (http on loopback only)",
  )
  .optional();
export const oidcScopes = text
  .transform((scopes) =>
    scopes
      .trim()
      .split(/[\s,]+/)
      .join(" "),
  )
  .refine(
    (scopes) => scopes.split(" ").includes("openid"),
    "must be scopes with spaces between, openid among them",
  )
  .default("openid email profile");
export const oidcGroups = text.default("").transform((written, context): GroupGrant[] => {
  const grants = written
    .split(";")
    .filter((item) => item.trim() !== "")
    .map(groupGrant);
  if (grants.every((grant) => grant !== undefined)) return grants;
  context.addIssue({
    code: "custom",
    message: "must be GROUP=ACCOUNT_ID:ROLE or GROUP=operator, with semicolons between",
  });
  return z.NEVER;
});
export const oidcJoin = text.default("nothing").transform((written, context): Joining => {
  const value = written.trim();
  const joining = value === "nothing" || value === "account" ? value : membership(value);
  if (joining !== undefined) return joining;
  context.addIssue({ code: "custom", message: "must be nothing, account or ACCOUNT_ID:ROLE" });
  return z.NEVER;
});
export const clickDurability = oneOf(["batched", "durable"]).default("batched");
export const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http or https address" }).optional();

/** Of requests, keys or webhooks: `usual` when it is unset. */
export function limit(usual: number) {
  return number(1, 1_000_000).default(usual);
}

/** A whole number; without `most` of any size. */
function number(least: number, most?: number) {
  const range = most === undefined ? `, ${least} or more` : ` from ${least} to ${most}`;
  return text.transform((written, context) => {
    const value = /^\d{1,15}$/.test(written.trim()) ? Number(written) : Number.NaN;
    if (value >= least && value <= (most ?? value)) return value;
    context.addIssue({ code: "custom", message: `must be a whole number${range}` });
    return z.NEVER;
  });
}

function oneOf<const Names extends readonly [string, ...string[]]>(names: Names) {
  return z.enum(names, `must be ${new Intl.ListFormat("en", { type: "disjunction" }).format(names)}`);
}

export type Membership = { accountId: string; role: Role };
/** What whoever is in the group at the provider is here. */
export type GroupGrant = { group: string; gives: Membership | "operator" };
/** What a newcomer gets. */
export type Joining = "nothing" | "account" | Membership;

function isIssuer(written: string): boolean {
  const url = URL.parse(written);
  if (!url || url.search || url.hash || url.username || url.pathname.includes("/.well-known/")) return false;
  return (
    url.protocol === "https:" ||
    (url.protocol === "http:" && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname))
  );
}

/** Names of groups may hold `=` and `,`, as those of LDAP do. */
function groupGrant(item: string): GroupGrant | undefined {
  const at = item.lastIndexOf("=");
  const [group, value] = [item.slice(0, Math.max(at, 0)).trim(), item.slice(at + 1).trim()];
  const gives = value === "operator" ? value : membership(value);
  return group === "" || gives === undefined ? undefined : { group, gives };
}

function membership(written: string): Membership | undefined {
  const [accountId = "", role = "", ...more] = written.toLowerCase().split(":");
  if (!z.uuid().safeParse(accountId).success || !isOneOf(ROLES, role) || more.length > 0) return undefined;
  return { accountId, role };
}

function isOneOf<const Name extends string>(names: readonly Name[], text: string): text is Name {
  return (names as readonly string[]).includes(text);
}

/** Checks the scheme only; the adapter checks the rest when it is opened, at the start too. */
function isEventStoreUrl(text: string): boolean {
  return /^(esdb|kurrentdb)(\+discover)?:\/\/\S+$/.test(text);
}

/** A follower may lag behind the leader, so a subscription could skip an event for ever. */
function readsAtLeader(text: string): boolean {
  return hasNoOther(text, "nodepreference", "leader");
}

/** A document of a member that lags, folded on and written, would lack the events that it had not got: counts too low. */
function readsAtPrimary(text: string): boolean {
  return hasNoOther(text, "readpreference", "primary");
}

/** As the event store's client does, it ignores case, `-` and `_` in names and values. */
function hasNoOther(text: string, option: string, value: string): boolean {
  const flat = (word = "") => word.toLowerCase().replace(/[\s_-]/g, "");
  const settings = [...text.matchAll(/[?&]([^=?&]+)=([^&?]*)/g)].filter(([, name]) => flat(name) === option);
  return settings.every(([, , setting]) => flat(setting) === value);
}

function isMongodbUrl(text: string): boolean {
  return /^mongodb(\+srv)?:\/\/\S+$/.test(text);
}

function originOf(text: string, context: z.RefinementCtx): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain =
    url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!url || !plain || url.pathname !== "/") {
    context.addIssue({ code: "custom", message: "must be an http or https address without path or query" });
    return z.NEVER;
  }
  return url.origin;
}

function list(accepts: (item: string) => boolean, message: string) {
  return text
    .default("")
    .transform(commaSeparated)
    .refine((items) => items.every(accepts), message);
}

/** Without white space around them and without empty ones. */
export function commaSeparated(items: string): string[] {
  return items
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** The names stand for private address ranges, by which proxy-addr replaces them. */
function isProxyRange(item: string): boolean {
  if (["loopback", "linklocal", "uniquelocal"].includes(item)) return true;
  const [address = "", bits, ...rest] = item.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return (
    bits === undefined ||
    (/^\d{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= (version === 4 ? 32 : 128))
  );
}

function isDnsServer(item: string): boolean {
  if (isIP(item) !== 0) return true;
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(item);
  return match !== null && isIP(match[1] ?? match[2] ?? "") !== 0 && Number(match[3] ?? 53) <= 65_535;
}
