// An account exported from one instance and imported into an empty one: the same links, and the same analytics.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { currentAccounts } from "../../../src/commands/account/account-stream.ts";
import { changeLink, type LinkChangeRequest } from "../../../src/commands/links/change-link.ts";
import { fieldsOf } from "../../../src/commands/links/fields/link-fields.ts";
import { existing } from "../../../src/commands/links/link.ts";
import { isLinkPassword } from "../../../src/commands/links/link-password.ts";
import { currentLink } from "../../../src/commands/links/link-stream.ts";
import { passwordWork } from "../../../src/commands/password-work.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { CLICK_KINDS } from "../../../src/events/vocabulary.ts";
import { accountUsage } from "../../../src/queries/accounts.ts";
import { accountQuestions, clickQuestions } from "../../../src/queries/analytics/click-questions.ts";
import { startOfDay } from "../../../src/queries/analytics/intervals.ts";
import { DAY_MS, UTC } from "../../../src/queries/analytics/time-zone.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { FIELD_CASES } from "../../support/service/link-field-cases.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";

const HOST = "go.example.org";
const AGENTS = [
  "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
  "Googlebot/2.1",
];
/** Of the second link: every field that there is. */
const CARRIED = Object.fromEntries(FIELD_CASES.map(({ field, values }) => [field, values[0]]));
const CARRIED_NAMES = FIELD_CASES.map(({ field, member = field }) => member);
/** With the ids of its rules, which another instance keeps. */
const shownOf = async ({ backend }: TestService, { custom, slug }: { custom: boolean; slug: string }) => {
  const link = existing(await currentLink(backend.eventStore, { host: custom ? HOST : "localhost", slug }));
  return { fields: fieldsOf(link), passwordId: link.passwordId ?? "" };
};
type Link = { slug: string; domain_id?: string };
type Analytics = { link?: object; analytics?: object };

let folder: TemporaryFolder;
let from: TestService;
let to: TestService;
let owner: Member;
let newOwner: Member;
let newDomainId: string;
/** Of the first instance: slug, and whether it is on the custom domain. */
const made: { slug: string; custom: boolean; clicks: number }[] = [];
const files = { account: "", links: "" };

const cliOf = ({ config }: TestService) => commandLine(config.dataDir);
const deps = (service: TestService) => ({
  ...runtimeDeps,
  eventStore: service.backend.eventStore,
  currentAccount: currentAccounts(service.backend.eventStore).current,
  baseUrl: service.config.baseUrl,
  baseHost: service.config.baseHost,
  urlSafety: async () => ["safe" as const],
  recheckLater: async () => undefined,
  secrets: service.backend.secrets,
  passwordWork: passwordWork(),
  baseHostSlugs: false,
  derivedSlug: () => "unused",
  linksWithFingerprint: async () => [],
});

beforeAll(async () => {
  folder = await temporaryFolder();
  [from, to] = await Promise.all([startTestService(), startTestService()]);
  owner = await from.member("developer");
  newOwner = await to.member("developer");
  const domainId = await from.domain(owner.accountId, HOST);
  newDomainId = await to.domain(newOwner.accountId, HOST);
  for (let n = 0; n < 6; n += 1) {
    const custom = n % 2 === 1;
    const { body } = await from.post<Link>("/api/v1/shorten", owner.key, {
      url: `https://example.com/${n}?utm_source=test&utm_term=${n}`,
      ...(custom && { domain_id: domainId, customSlug: `Custom-${n}` }),
    });
    made.push({ slug: body.slug, custom, clicks: 2 * n + 1 });
  }
  const change = (n: number, request: LinkChangeRequest) => {
    const { slug, custom } = made[n] as (typeof made)[number];
    const by = { accountId: owner.accountId, tier: "developer", via: "web" } as const;
    return changeLink(deps(from), operator, by, { host: custom ? HOST : "localhost", slug }, request);
  };
  for (const { slug, custom, clicks } of made)
    for (let n = 0; n < clicks; n += 1)
      await from.ask(`/${slug}${n % 4 === 3 ? "?qr=1&utm_medium=print" : ""}`, {
        host: custom ? HOST : "localhost",
        headers: {
          "user-agent": AGENTS[n % AGENTS.length] as string,
          ...(n % 2 === 0 && { referer: "https://www.example.net/from" }),
        },
      });
  await change(0, { type: "patch", patch: { url: "https://example.com/elsewhere" } });
  await change(1, { type: "patch", patch: CARRIED });
  await change(1, { type: "disable" });
  await change(2, { type: "delete" });
  await change(3, { type: "disable" });
  await change(3, { type: "enable" });
  files.account = join(folder.path, "account.ndjson");
  files.links = join(folder.path, "links.ndjson");
  await until("every click", async () => (await sums(from, owner)).total === 36);
  for (const what of ["account", "links"] as const)
    await cliOf(from).json("export", what, owner.accountId, "--out", files[what]);
}, 120_000);
afterAll(async () => {
  await Promise.all([from.stop(), to.stop()]);
  await folder.remove();
});

async function dashboard(service: TestService, { accountId }: Member) {
  const now = Date.now();
  const usage = await accountUsage(
    { ...service.backend, clock: () => new Date() },
    { accountId, tier: "developer" },
  );
  const ask = accountQuestions(clickQuestions(service.backend), service.backend.readStore);
  const numbers = await ask({
    ...{ accountId, groupBy: ["link", "country", "tag"], filters: {}, kinds: CLICK_KINDS, limit: 100 },
    ...{ from: startOfDay(UTC, now - 7 * DAY_MS), now, zone: "UTC" },
  });
  return { ...numbers, usage };
}
const sums = async (service: TestService, who: Member) => {
  const { people, preview } = (await dashboard(service, who)).totals;
  return { total: people + preview };
};

async function analytics(service: TestService, { key }: Member, slug: string, domainId = "") {
  const { body, status } = await service.ask<Analytics>(
    `/api/v1/analytics/${slug}${domainId && `?domain_id=${domainId}`}`,
    { key },
  );
  return { status, link: body.link, analytics: body.analytics };
}

const importAccount = (...more: string[]) =>
  cliOf(to).json("import", "linkledger", files.account, "--account", newOwner.accountId, ...more);

describe("an account that moves to another instance", { timeout: 120_000 }, () => {
  it("shows first what an import would do", async () => {
    const report = await importAccount("--dry-run");
    expect(report).toMatchObject({
      dry_run: true,
      links: { read: 6, created: 6, failed: 0 },
      clicks: { read: 36, created: 36, failed: 0, skipped: 0 },
      hosts: { localhost: 3, [HOST]: 3 },
      errors: [],
    });
    expect((await sums(to, newOwner)).total).toBe(0);
  });

  it("goes on where an import of a part had ended", async () => {
    const lines = (await readFile(files.account, "utf8")).trimEnd().split("\n");
    const part = join(folder.path, "part.ndjson");
    await writeFile(part, lines.slice(0, 17).join("\n"));
    const first = await cliOf(to).json("import", "linkledger", part, "--account", newOwner.accountId);
    const report = await importAccount();
    expect(first.links.created + report.links.created).toBe(6);
    expect(first.clicks.created + report.clicks.created).toBe(36);
    expect(report.clicks.already).toBe(first.clicks.created);
    expect(await importAccount()).toMatchObject({
      links: { created: 0, already: 6 },
      clicks: { created: 0, already: 36 },
    });
  });

  it("has the same analytics of each link, and the same sums", async () => {
    await until("every click", async () => (await sums(to, newOwner)).total === 36);
    for (const { slug, custom } of made) {
      const before = await analytics(from, owner, slug);
      const after = await analytics(to, newOwner, slug, custom ? newDomainId : "");
      expect(after).toEqual(before);
      expect(after.status).toBe(slug === made[2]?.slug ? 404 : 200);
    }
    const [before, after] = [await dashboard(from, owner), await dashboard(to, newOwner)];
    expect(after.totals).toEqual(before.totals);
    expect(after.series).toEqual(before.series);
    expect(after.usage).toEqual(before.usage);
    expect(after.groups).toEqual(before.groups);
  });

  it("carries what it carried, its password too", async () => {
    const { fields, passwordId } = await shownOf(to, made[1] as (typeof made)[number]);
    expect(Object.keys(fields).sort()).toEqual(CARRIED_NAMES.sort());
    expect(fields).toEqual((await shownOf(from, made[1] as (typeof made)[number])).fields);
    expect(await isLinkPassword(deps(to), passwordId, String(CARRIED.password))).toBe(true);
  });

  it("redirects as before, and refuses what was disabled or deleted", async () => {
    const follow = async ({ slug, custom }: (typeof made)[number]) => {
      const { status, headers } = await to.ask(`/${slug}`, { host: custom ? HOST : "localhost" });
      return status === 301 ? headers.location : status;
    };
    const expected = [
      "https://example.com/elsewhere",
      404,
      404,
      ...[3, 4, 5].map((n) => `https://example.com/${n}?utm_source=test&utm_term=${n}`),
    ];
    for (const [n, link] of made.entries()) expect(await follow(link)).toBe(expected[n]);
  });

  it("exports links alone, without clicks, and nothing of keys or other accounts", async () => {
    const other = await from.member("free");
    await from.post("/api/v1/shorten", other.key, { url: "https://example.com/other" });
    const lines = (await readFile(files.links, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).type)).toEqual([
      "linkledger-export",
      ...made.map(() => "link"),
    ]);
    const { stdout } = await cliOf(from).linkledger(["export", "account", owner.accountId]);
    expect(stdout.split("\n").filter((line) => line.includes('"type":"click"'))).toHaveLength(36);
    expect(stdout).not.toMatch(/keyId|keyHash|example\.com\/other/);
  });

  it("exports links as a table, which another account imports, by the ending of its file", async () => {
    const file = join(folder.path, "links.csv");
    await cliOf(from).json("export", "links", owner.accountId, "--out", file);
    const again = await startTestService();
    try {
      const { accountId } = await again.member("developer");
      const report = await cliOf(again).json(
        ...["import", "csv", file, "--account", accountId, "--domain", "localhost"],
      );
      expect(report.links).toEqual({ read: 5, created: 5, already: 0, failed: 0 });
      const second = made[1] as (typeof made)[number];
      const { fields } = await shownOf(again, { ...second, custom: false });
      expect(fields).toEqual((await shownOf(from, second)).fields);
    } finally {
      await again.stop();
    }
    const clicks = join(folder.path, "clicks.csv");
    await cliOf(from).json("export", "clicks", "--account", owner.accountId, "--out", clicks);
    expect((await readFile(clicks, "utf8")).split("\r\n")[0]).toContain("link,account_id,at,type");
  });

  it("takes the name of a domain as `domain add` takes it", async () => {
    const { accountId } = await to.member("developer");
    await to.domain(accountId, "bücher.example.org");
    const call = ["import", "linkledger", files.links, "--account", accountId, "--dry-run"];
    const report = await cliOf(to).json(...call, "--domain", "Bücher.example.org.");
    expect(report.hosts).toEqual({ "xn--bcher-kva.example.org": made.length });
  });

  it("says in one line what is wrong with the call", async () => {
    const { refused } = cliOf(to);
    const call = (...args: string[]) => refused("import", "linkledger", ...args);
    expect(await call("nowhere.ndjson", "--account", newOwner.accountId)).toContain("nowhere.ndjson");
    expect(await call(files.links, "--account", owner.accountId)).toContain("ccount");
    const domain = ["--domain", "not.example.org"];
    expect(await call(files.links, "--account", newOwner.accountId, ...domain)).toContain("Domain");
  });

  it("refuses to export an unknown account, and leaves the earlier file as it is", async () => {
    for (const what of ["links", "account"] as const) {
      const before = await readFile(files[what], "utf8");
      const out = ["--out", files[what]];
      expect(await cliOf(from).refused("export", what, `${owner.accountId}0`, ...out)).toContain("ccount");
      expect(await readFile(files[what], "utf8")).toBe(before);
    }
    const nowhere = join(folder.path, "nowhere");
    const call = ["export", "links", owner.accountId, "--out", join(nowhere, "links.ndjson")];
    expect(await cliOf(from).refused(...call)).toBe(
      `error: No such file or folder: ${join(nowhere, "links.ndjson")}\n`,
    );
  });

  it("ends with exit code 1 when a record failed, and names it", async () => {
    const file = join(folder.path, "broken.csv");
    await writeFile(file, "keyword,url\nok1,https://example.com/\nbad,nonsense\n");
    const outcome = await cliOf(to).linkledger(["import", "yourls", file, "--account", newOwner.accountId]);
    expect(outcome).toMatchObject({ code: 1 });
    expect(outcome.stdout).toMatch(/line 3 +Invalid URL/);
  });
});
