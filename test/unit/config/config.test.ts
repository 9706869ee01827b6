// Every environment variable: defaults, what is refused, and what a log may show.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BadConfig, describeConfig, parseConfig, secretKeyOf } from "../../../src/config/config.ts";
import { SETTINGS, type Setting } from "../../../src/config/settings.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const SECRET_KEY_NEEDED =
  "SECRET_KEY must be set, to the same value in every process, with EVENTSTORE_URL, MONGODB_URL and REDIS_URL";
const SERVERS = {
  EVENTSTORE_URL: "esdb+discover://admin:secret@a:2113,b:2113?nodePreference=leader",
  MONGODB_URL: "mongodb://user:secret@a:27017,b:27017/links?readPreference=primary",
  REDIS_URL: "rediss://:secret@cache.example:6380/1",
};
const ON_SERVERS = { ...SERVERS, SECRET_KEY: "k".repeat(32) };
const EVENTSTORE =
  "must be a connection string such as kurrentdb://host:2113?tls=false or esdb://host:2113?tls=false";
const LEADER = "must have nodePreference leader (the default): another node may lag behind the log";
const PRIMARY = "must have readPreference primary (the default): another member may lag behind";
const SENDER = "must be an address such as no-reply@example.com or Example <no-reply@example.com>";

const ACCOUNT = "0199c0de-0000-4000-8000-000000000001";

/** Each kind of wrong value of each setting. */
const WRONG: readonly (readonly [variable: string, sentence: string, ...values: string[]])[] = [
  ["DEFAULT_TIER", "must be free or developer", "gold", "Free"],
  ["PORT", "must be a whole number from 0 to 65535", "abc", "70000", "-1", "3000.5", "0x10", "1e3"],
  ["CLICK_JOURNAL_MB", "must be a whole number, 1 or more", "0", "many", "-5", "1.5"],
  ["SIGN_UP", "must be open or closed", "no", "Open"],
  [
    "SIGN_IN",
    "must be password, passkey and oidc, or some of them, comma separated",
    ...["ldap", "password passkey", ","],
  ],
  ["SESSION_HOURS", "must be a whole number from 1 to 8760", "0", "30d"],
  [
    "OIDC_ISSUER",
    "must be the provider's https address, without query and without /.well-known/ (http on loopback only)",
    ...["id.example", "http://id.example", "https://id.example/.well-known/openid-configuration"],
  ],
  ["OIDC_SCOPES", "must be scopes with spaces between, openid among them", "email profile"],
  [
    "OIDC_GROUPS",
    "must be GROUP=ACCOUNT_ID:ROLE or GROUP=operator, with semicolons between",
    ...["staff", "staff=admin", `staff=${ACCOUNT}:boss`, "=operator"],
  ],
  ["OIDC_JOIN", "must be nothing, account or ACCOUNT_ID:ROLE", "everything", `${ACCOUNT}:`],
  ["BASE_HOST_SLUGS", "must be true or false", "maybe"],
  ...["RATE_LIMIT_FREE", "RATE_LIMIT_DEVELOPER", "MAX_KEYS_FREE", "MAX_KEYS_DEVELOPER", "MAX_WEBHOOKS"].map(
    (variable) =>
      [variable, "must be a whole number from 1 to 1000000", "0", "-1", "many", "1000001"] as const,
  ),
  ["STOP_SECONDS", "must be a whole number from 1 to 600", "0", "601", "8s"],
  [
    "BASE_URL",
    "must be an http or https address without path or query",
    ...["lnk.example", "ftp://lnk.example", "https://lnk.example/short", "https://lnk.example/?a"],
  ],
  ["KEY_PREFIX", "must be 1 to 16 letters and digits, a letter first", "a_b", "1a", "a".repeat(17)],
  [
    "TRUST_PROXY",
    "must be addresses, CIDRs (not /0), loopback, linklocal or uniquelocal, comma separated",
    ...["10.0.0.0/40", "everyone", "0.0.0.0/0"],
  ],
  [
    "CLIENT_IP_HEADER",
    "must be the name of a header such as CF-Connecting-IP (X-Forwarded-For is read without it)",
    ...["X-Real-IP: 1", "x-forwarded-for", "1"],
  ],
  ["CLIENT_COUNTRY_HEADER", "must be the name of a header such as CF-IPCountry", "cf_country", "a b"],
  ["CLICK_DURABILITY", "must be batched or durable", "maybe"],
  [
    "DNS_SERVERS",
    "must be IP addresses, comma separated, each with an optional port",
    ...["dns.example", "1.1.1.1:65536"],
  ],
  ["WEBHOOK_ALLOW_PRIVATE", "must be true or false", "yes"],
  ["SAFE_BROWSING_URL", "must be an http or https address", "here", "ftp://here.example"],
  ["ADMIN_TOKEN", "must be at least 16 characters", "hunter2"],
  ["TLS_ASK_SECRET", "must be at least 16 characters", "hunter2"],
  ["SECRET_KEY", "must be at least 32 characters", "hunter2"],
  ["SECRET_KEY_PREVIOUS", "must be at least 32 characters", "hunter2"],
  ["SMTP_URL", "must be smtp://user:password@host:port or smtps://...", "mail.example", "http://hunter2"],
  ["MAIL_FROM", SENDER, "Example", "Example <no-reply>", "a@example.com, b@example.com"],
  ["LOG_LEVEL", "must be trace, debug, info, warn, error, fatal, or silent", "loud"],
  ["EVENTSTORE_URL", EVENTSTORE, "http://127.0.0.1:2113", "kdb://127.0.0.1:2113"],
  [
    "EVENTSTORE_PREFIX",
    "must be letters, digits, dots and underscores, such as staging_",
    "a b",
    "_a",
    "a-b",
  ],
  ["MONGODB_URL", "must be a MongoDB connection string such as mongodb://host:27017/linkledger", "127.0.0.1"],
  [
    "REDIS_URL",
    "must be a Redis address such as redis://host:6379, unix:///run/redis.sock or redis+sentinel://host:26379,host:26379/mymaster",
    ...["redis://", "127.0.0.1:6379", "redis+sentinel://host:26379"],
  ],
];

const settings: readonly Setting[] = Object.values(SETTINGS);

function problems(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof BadConfig) return error.problems;
    throw error;
  }
  return [];
}

describe("the configuration", () => {
  it("has a default for every variable", () => {
    expect(parseConfig({})).toMatchObject({
      port: 3000,
      host: "127.0.0.1",
      baseUrl: "http://localhost:3000",
      baseHost: "localhost",
      dataDir: join(process.cwd(), "data"),
      keyPrefix: "ll",
      trustProxy: [],
      clickDurability: "batched",
      dnsServers: [],
      webhookAllowPrivate: false,
      logLevel: "info",
    });
  });

  it("takes an empty variable for an unset one", () => {
    expect(parseConfig({ PORT: "", BASE_URL: " ", ADMIN_TOKEN: "" }).port).toBe(3000);
  });

  it("takes no prefix of streams for one, instead of the default", () => {
    expect([{}, { EVENTSTORE_PREFIX: "" }].map((env) => parseConfig(env).eventStorePrefix)).toEqual([
      "linkledger_",
      "",
    ]);
  });

  it("is plain JSON, so that it can be passed to threads", () => {
    const config = parseConfig({ TRUST_PROXY: "10.0.0.0/8, ::1", DNS_SERVERS: "1.1.1.1,[::1]:5353" });
    expect(JSON.parse(JSON.stringify(config))).toEqual({ ...config });
    expect(config.trustProxy).toEqual(["10.0.0.0/8", "::1"]);
    expect(config.dnsServers).toEqual(["1.1.1.1", "[::1]:5353"]);
  });

  it("reads the base address without a slash at its end, and its host in lower case", () => {
    const { baseUrl, baseHost } = parseConfig({ BASE_URL: "https://LNK.Example:8443/" });
    expect([baseUrl, baseHost]).toEqual(["https://lnk.example:8443", "lnk.example"]);
  });

  it("says in one line what a setting must be, of each that is wrong, and all at once", () => {
    const rounds = Math.max(...WRONG.map(([, , ...values]) => values.length));
    for (let round = 0; round < rounds; round++) {
      const wrong = WRONG.filter(([, , ...values]) => values.length > round);
      const env = Object.fromEntries(wrong.map(([variable, , ...values]) => [variable, values[round] ?? ""]));
      const expected = wrong.map(([variable, sentence]) => {
        const isSecret = settings.some((one) => one.variable === variable && one.isSecret);
        return isSecret ? `${variable} ${sentence}` : `${variable} ${sentence}, not "${env[variable]}"`;
      });
      const needsKey = /^(EVENTSTORE|MONGODB|REDIS)_URL$/m.test(Object.keys(env).join("\n"));
      const key = needsKey && !env.SECRET_KEY ? [SECRET_KEY_NEEDED] : [];
      const others = { OIDC_CLIENT_ID: "linkledger", OIDC_GROUPS_CLAIM: "groups", ...(needsKey && SERVERS) };
      expect([...problems({ ...others, ...env })].sort()).toEqual([...expected, ...key].sort());
    }
  });

  it("has a wrong value in this test for every setting that does not take any text", () => {
    const any = ["HOST", "DATA_DIR", "GEOIP_DB", "UNSAFE_HOSTS_FILE", "SAFE_BROWSING_KEY", "PLAN_PRICE"];
    any.push("OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_NAME", "OIDC_GROUPS_CLAIM");
    const tried = new Set([...WRONG.map(([variable]) => variable), ...any]);
    expect(settings.map(({ variable }) => variable).filter((variable) => !tried.has(variable))).toEqual([]);
  });

  it("explains in a sentence what must be set because of another setting", () => {
    expect(problems({ PORT: "0" })).toEqual([
      "BASE_URL must be set when PORT is 0, as the port isn't known beforehand",
    ]);
    expect(problems(SERVERS)).toEqual([SECRET_KEY_NEEDED]);
    const headers = { CLIENT_IP_HEADER: "X-Real-IP", CLIENT_COUNTRY_HEADER: "CF-IPCountry" };
    for (const TRUST_PROXY of ["", ","])
      expect(problems({ ...headers, TRUST_PROXY })).toEqual([
        "TRUST_PROXY must be set with CLIENT_IP_HEADER, which is believed from these proxies only",
        "TRUST_PROXY must be set with CLIENT_COUNTRY_HEADER, which is believed from these proxies only",
      ]);
    expect(problems({ ...headers, TRUST_PROXY: "loopback" })).toEqual([]);
  });

  it("has the ways of signing in that are named, by default those that can work", () => {
    const OIDC = { OIDC_ISSUER: "https://id.example/", OIDC_CLIENT_ID: "linkledger" };
    const ways = [{}, OIDC, { ...OIDC, SIGN_IN: "oidc" }].map((env) => parseConfig(env).signIn);
    expect(ways).toEqual([["password", "passkey"], ["password", "passkey", "oidc"], ["oidc"]]);
    expect(problems({ SIGN_IN: "oidc", OIDC_GROUPS: "a=operator" })).toEqual([
      "OIDC_ISSUER must be set with SIGN_IN=oidc",
      "OIDC_GROUPS_CLAIM must be set with OIDC_GROUPS",
    ]);
  });

  it("reads what groups give, also of groups with the names that directories have", () => {
    const OIDC_GROUPS = `cn=web,dc=example=${ACCOUNT.toUpperCase()}:editor; it = operator`;
    expect(parseConfig({ OIDC_GROUPS, OIDC_GROUPS_CLAIM: "groups" }).oidcGroups).toEqual([
      { group: "cn=web,dc=example", gives: { accountId: ACCOUNT, role: "editor" } },
      { group: "it", gives: "operator" },
    ]);
  });

  it("takes the three servers together, and keeps their passwords out of the log", () => {
    const config = parseConfig(ON_SERVERS);
    const { EVENTSTORE_URL: eventStoreUrl, MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl } = SERVERS;
    expect(config).toMatchObject({ eventStoreUrl, mongodbUrl, redisUrl });
    expect(JSON.stringify(describeConfig(config))).not.toMatch(/secret@|kkk/);
  });

  it.each([
    [["EVENTSTORE_URL"], "MONGODB_URL and REDIS_URL"],
    [["MONGODB_URL"], "EVENTSTORE_URL and REDIS_URL"],
    [["REDIS_URL"], "EVENTSTORE_URL and MONGODB_URL"],
    [["EVENTSTORE_URL", "MONGODB_URL"], "REDIS_URL"],
    [["EVENTSTORE_URL", "REDIS_URL"], "MONGODB_URL"],
    [["MONGODB_URL", "REDIS_URL"], "EVENTSTORE_URL"],
  ])("refuses %j alone in one line", (given, lacking) => {
    const env = Object.fromEntries(Object.entries(ON_SERVERS).filter(([name]) => given.includes(name)));
    expect(problems({ ...env, SECRET_KEY: ON_SERVERS.SECRET_KEY })).toEqual([
      `EVENTSTORE_URL, MONGODB_URL and REDIS_URL go together, all or none: ${lacking} must be set, too`,
    ]);
  });

  it.each([
    "esdb://a:2113,b:2113?nodePreference=leader",
    "kurrentdb://a:2113?tls=false",
    "kurrentdb+discover://a:2113",
    "esdb://a:2113?NODE_PREFERENCE=Leader&tls=false",
  ])("takes the leader as the node to read from: %s", (EVENTSTORE_URL) => {
    expect(problems({ ...ON_SERVERS, EVENTSTORE_URL })).toEqual([]);
  });

  it.each(["no-reply@example.com", '"Example, Inc." <no-reply@localhost>', "<a@b>"])(
    "takes the sender of mail with or without a name: %s",
    (MAIL_FROM) => expect(parseConfig({ MAIL_FROM }).mailFrom).toBe(MAIL_FROM),
  );

  it.each([
    ["EVENTSTORE_URL", LEADER, "esdb://a:2113,b:2113?nodePreference=follower"],
    ["EVENTSTORE_URL", LEADER, "kurrentdb://a:2113,b:2113?nodePreference=follower"],
    ["EVENTSTORE_URL", LEADER, "esdb://a:2113?tls=false&nodePreference=random"],
    ["EVENTSTORE_URL", LEADER, "esdb://a:2113?Node-Preference=ReadOnly_Replica&tls=false"],
    ["EVENTSTORE_URL", LEADER, "esdb://a:2113?nodePreference=leader&nodepreference=follower"],
    ["MONGODB_URL", PRIMARY, "mongodb://a,b/links?replicaSet=rs0&readPreference=secondaryPreferred"],
    ["MONGODB_URL", PRIMARY, "mongodb+srv://a/links?readpreference=nearest"],
  ])("refuses a %s that would read what lags: %s: %s", (variable, sentence, value) => {
    expect(problems({ ...ON_SERVERS, [variable]: value })).toEqual([`${variable} ${sentence}`]);
  });

  it("prints no password, of secrets and of addresses alike, and keeps a value on one line", () => {
    const found = problems({
      ADMIN_TOKEN: "hunter2",
      BASE_URL: "https://me:hunter2@lnk.example",
      PORT: "a\nb",
    });
    expect(found).toHaveLength(3);
    expect(found.join()).not.toMatch(/hunter|\n/);
  });

  it("shows secrets as set only", () => {
    const shown = JSON.stringify(
      describeConfig(
        parseConfig({ ADMIN_TOKEN: "a".repeat(20), SECRET_KEY: "b".repeat(40), SAFE_BROWSING_KEY: "ccc" }),
      ),
    );
    expect(shown).not.toMatch(/aaa|bbb|ccc/);
    expect(shown).toMatch(/"adminToken":"\(set\)"/);
  });
});

describe("the secret key", () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  it("is created once in the data folder, readable by its owner only, and reused at the next start", () => {
    const dataDir = join(folder.path, "new");
    const first = secretKeyOf({ dataDir });
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(secretKeyOf({ dataDir })).toBe(first);
    expect(statSync(join(dataDir, "secret.key")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, "secret.key"), "utf8").trim()).toBe(first);
  });

  it("is SECRET_KEY when that is set", () => {
    expect(secretKeyOf({ dataDir: folder.path, secretKey: "k".repeat(32) })).toBe("k".repeat(32));
  });
});
