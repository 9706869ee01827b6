// Every environment variable: defaults, what is refused, and what a log may show.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BadConfig, describeConfig, parseConfig, secretKeyOf } from "../../../src/config.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

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

  it.each([
    [{ PORT: "http" }, "PORT"],
    [{ PORT: "70000" }, "PORT"],
    [{ PORT: "0" }, "BASE_URL"],
    [{ BASE_URL: "lnk.example" }, "BASE_URL"],
    [{ BASE_URL: "ftp://lnk.example" }, "BASE_URL"],
    [{ BASE_URL: "https://lnk.example/short" }, "BASE_URL"],
    [{ BASE_URL: "https://user:secret@lnk.example" }, "BASE_URL"],
    [{ KEY_PREFIX: "a_b" }, "KEY_PREFIX"],
    [{ TRUST_PROXY: "10.0.0.0/40" }, "TRUST_PROXY"],
    [{ TRUST_PROXY: "everyone" }, "TRUST_PROXY"],
    [{ TRUST_PROXY: "0.0.0.0/0" }, "TRUST_PROXY"],
    [{ CLICK_DURABILITY: "maybe" }, "CLICK_DURABILITY"],
    [{ DNS_SERVERS: "dns.example" }, "DNS_SERVERS"],
    [{ DNS_SERVERS: "1.1.1.1:65536" }, "DNS_SERVERS"],
    [{ WEBHOOK_ALLOW_PRIVATE: "yes" }, "WEBHOOK_ALLOW_PRIVATE"],
    [{ ADMIN_TOKEN: "short" }, "ADMIN_TOKEN"],
    [{ SECRET_KEY: "short" }, "SECRET_KEY"],
    [{ MAIL_FROM: "Example" }, "MAIL_FROM"],
    [{ MAIL_FROM: "Example <no-reply>" }, "MAIL_FROM"],
    [{ MAIL_FROM: "a@example.com, b@example.com" }, "MAIL_FROM"],
    [{ LOG_LEVEL: "loud" }, "LOG_LEVEL"],
    [{ EVENTSTORE_URL: "http://127.0.0.1:2113" }, "EVENTSTORE_URL"],
    [{ EVENTSTORE_URL: "kdb://127.0.0.1:2113" }, "EVENTSTORE_URL"],
    [{ EVENTSTORE_URL: "esdb://a:2113,b:2113?nodePreference=follower" }, "EVENTSTORE_URL"],
    [{ EVENTSTORE_URL: "kurrentdb://a:2113,b:2113?nodePreference=follower" }, "EVENTSTORE_URL"],
    [{ EVENTSTORE_URL: "esdb://a:2113?tls=false&nodePreference=random" }, "EVENTSTORE_URL"],
    [{ EVENTSTORE_URL: "esdb://a:2113?Node-Preference=ReadOnly_Replica&tls=false" }, "EVENTSTORE_URL"],
    [{ EVENTSTORE_URL: "esdb://a:2113?nodePreference=leader&nodepreference=follower" }, "EVENTSTORE_URL"],
    [{ MONGODB_URL: "127.0.0.1" }, "MONGODB_URL"],
    [{ MONGODB_URL: "mongodb://a,b/links?replicaSet=rs0&readPreference=secondaryPreferred" }, "MONGODB_URL"],
    [{ MONGODB_URL: "mongodb+srv://a/links?readpreference=nearest" }, "MONGODB_URL"],
    [{ REDIS_URL: "redis://" }, "REDIS_URL"],
    [{ REDIS_URL: "redis://127.0.0.1" }, "SECRET_KEY"],
  ])("refuses %j in one line that begins with the variable's name", (env, name) => {
    const found = problems(env as Record<string, string>);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${name}\\b[^\\n]*$`));
  });

  it("says why it refuses a TRUST_PROXY of all addresses, and which names it takes", () => {
    expect(problems({ TRUST_PROXY: "0.0.0.0/0" })).toEqual([
      'TRUST_PROXY (it is "0.0.0.0/0"): must be addresses, CIDRs (not /0), loopback, linklocal or uniquelocal, comma separated',
    ]);
  });

  it("explains in a sentence when SECRET_KEY must be set", () => {
    expect(problems({ MONGODB_URL: "mongodb://127.0.0.1/links" })).toEqual([
      "SECRET_KEY: must be set, to the same value in every process, when EVENTSTORE_URL, MONGODB_URL or REDIS_URL is set",
    ]);
  });

  it.each([
    ["eventStoreUrl", { EVENTSTORE_URL: "esdb+discover://admin:secret@a:2113,b:2113?nodePreference=leader" }],
    ["mongodbUrl", { MONGODB_URL: "mongodb://user:secret@a:27017,b:27017/links?readPreference=primary" }],
    ["redisUrl", { REDIS_URL: "rediss://:secret@cache.example:6380/1" }],
  ])("takes %s on its own, beside embedded stores, and keeps it out of the log", (field, env) => {
    const config = parseConfig({ ...env, SECRET_KEY: "k".repeat(32) });
    expect(config).toMatchObject({ [field]: Object.values(env)[0] });
    expect(JSON.stringify(describeConfig(config))).not.toMatch(/secret@|kkk/);
  });

  it.each([
    "esdb://a:2113,b:2113?nodePreference=leader",
    "kurrentdb://a:2113?tls=false",
    "kurrentdb+discover://a:2113",
    "esdb://a:2113?NODE_PREFERENCE=Leader&tls=false",
  ])("takes the leader as the node to read from: %s", (EVENTSTORE_URL) => {
    expect(problems({ EVENTSTORE_URL, SECRET_KEY: "k".repeat(32) })).toEqual([]);
  });

  it.each(["no-reply@example.com", '"Example, Inc." <no-reply@localhost>', "<a@b>"])(
    "takes the sender of mail with or without a name: %s",
    (MAIL_FROM) => expect(parseConfig({ MAIL_FROM }).mailFrom).toBe(MAIL_FROM),
  );

  it("reports all problems together, without values of secrets", () => {
    const found = problems({ PORT: "x", ADMIN_TOKEN: "hunter2", SECRET_KEY: "hunter3" });
    expect(found).toHaveLength(3);
    expect(found.join()).not.toMatch(/hunter/);
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
