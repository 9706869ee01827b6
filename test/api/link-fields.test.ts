// Each field that a link can carry, through its whole life: set, changed, cleared and refused by the API, in bulk, in the portal
// and by an import; kept by export, import elsewhere and rebuild.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIELD_NAMES, type FieldName } from "../../src/commands/links/link-fields.ts";
import { type Person, portalPeople } from "../support/portal/portal-people.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { commandLine } from "../support/service/command-line.ts";
import { onCluster, startTestService, type TestService } from "../support/service/start-service.ts";

type Typed = Record<string, string>;
type Row = {
  /** As requests give it. */
  set: unknown;
  other: unknown;
  wrong: unknown;
  /** As answers show it, where it is not as it was given. */
  shown?: { set: unknown; other: unknown };
  /** What the portal's form sends for `set`, and to clear it. */
  typed: Typed;
  emptied: Typed;
  /** What a column of a table of one's own says for `set`, where it is not the text of it. */
  column?: string;
};

const URL = "https://example.com/page";
const rule = { when: { os: ["iOS"], share: 50 }, url: "https://example.com/app" };
const shownPassword = { set: true, other: true };

const FIELDS: Readonly<Record<FieldName, Row>> = {
  title: {
    ...{ set: "Spring sale", other: "Summer, ‘late’ 🌞", wrong: "x".repeat(201) },
    ...{ typed: { title: "Spring sale" }, emptied: { title: "" } },
  },
  comments: {
    ...{ set: "Asked for by sales\non Monday", other: "-", wrong: "x".repeat(2_001) },
    ...{ typed: { comments: "Asked for by sales\r\non Monday" }, emptied: { comments: "" } },
  },
  tags: {
    ...{ set: ["spring", "mail"], other: ["b"], wrong: Array.from({ length: 11 }, (_, n) => `t${n}`) },
    ...{ typed: { tags: "spring, mail" }, emptied: { tags: "" }, column: "spring,mail" },
  },
  external_id: {
    ...{ set: "order-4711", other: "order-4712", wrong: "x".repeat(101) },
    ...{ typed: { external_id: "order-4711" }, emptied: { external_id: "" } },
  },
  active_from: {
    ...{ set: "2026-01-31T12:00:00.000Z", other: "2026-02-01", wrong: "soon" },
    shown: { set: "2026-01-31T12:00:00.000Z", other: "2026-02-01T00:00:00.000Z" },
    ...{ typed: { active_from: "2026-01-31T12:00" }, emptied: { active_from: "" } },
  },
  expires_at: {
    ...{ set: "2099-01-31T12:00:00.000Z", other: "2099-02-01T00:00+02:00", wrong: "2099-02-31" },
    shown: { set: "2099-01-31T12:00:00.000Z", other: "2099-01-31T22:00:00.000Z" },
    ...{ typed: { expires_at: "2099-01-31T12:00" }, emptied: { expires_at: "" } },
  },
  expired_url: {
    ...{ set: "https://example.com/over", other: "http://example.org/", wrong: "ftp://example.com/" },
    ...{ typed: { expired_url: "https://example.com/over" }, emptied: { expired_url: "" } },
  },
  max_clicks: {
    ...{ set: 1_000, other: 1, wrong: 0 },
    ...{ typed: { max_clicks: "1000" }, emptied: { max_clicks: "" } },
  },
  password: {
    ...{ set: "open sesame", other: "another", wrong: "x".repeat(129), shown: shownPassword },
    ...{ typed: { password: "open sesame" }, emptied: { remove_password: "1" } },
  },
  redirect_code: {
    ...{ set: 307, other: 302, wrong: 303 },
    ...{ typed: { redirect_code: "307" }, emptied: { redirect_code: "" } },
  },
  forward_query: {
    ...{ set: true, other: true, wrong: "perhaps" },
    ...{ typed: { forward_query: "1" }, emptied: { forward_query: "" } },
  },
  rules: {
    ...{ set: [rule], other: [{ when: { country: "de" }, url: URL }], wrong: [{ when: {}, url: URL }] },
    shown: { set: [rule], other: [{ when: { country: ["DE"] }, url: URL }] },
    typed: { "rules.0.when.os": "iOS", "rules.0.when.share": "50", "rules.0.url": rule.url },
    emptied: { "rules.0.when.os": "", "rules.0.when.share": "", "rules.0.url": "" },
    column: JSON.stringify([rule]),
  },
};

type Link = { slug: string } & Record<string, unknown>;
type Bulk = { results: ({ index: number } & Link)[]; errors: { error: string }[]; failed: number };

let folder: TemporaryFolder;
let service: TestService;
let owner: Person;
let people: ReturnType<typeof portalPeople>;
let key: string;
/** A key may ask 500 times an hour. */
const newKey = async () => {
  key = (await service.issueKey(owner.accountId)).key;
};

beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  people = portalPeople(service);
  owner = await people.developer();
  await newKey();
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const cliOf = (one: TestService) =>
  commandLine(one.config.dataDir, { BASE_URL: one.config.baseUrl, SECRET_KEY: one.config.secretKey ?? "" });
const shorten = (body: object) => service.post<Link>("/api/v1/shorten", key, { url: URL, ...body });
const read = async (slug: string, one = service, by = key) =>
  (await one.ask<Link>(`/api/v1/links/${slug}`, { key: by })).body;
const patch = (slug: string, body: object) =>
  service.ask<Link & { error: string }>(`/api/v1/links/${slug}`, { method: "PATCH", key, body });

/** The fields of an answer. */
const carried = (link: Record<string, unknown>) =>
  Object.fromEntries(
    [...FIELD_NAMES, "has_password"].filter((name) => name in link).map((name) => [name, link[name]]),
  );

function rowOf(name: FieldName) {
  const row = FIELDS[name];
  const { set, other } = row.shown ?? row;
  const shownAs = name === "password" ? "has_password" : name;
  return { ...row, shown: { set: { [shownAs]: set }, other: { [shownAs]: other } } };
}

/** One that no other test has: it is one link's alone. */
function own(name: FieldName, value: unknown, of: string): unknown {
  return name === "external_id" && typeof value === "string" && value.length <= 100
    ? `${value}-${of}`
    : value;
}

describe.each(FIELD_NAMES)("%s", (name) => {
  const { typed, emptied, column, wrong, ...row } = rowOf(name);
  const set = (of: string) => ({ [name]: own(name, row.set, of) });
  const other = (of: string) => ({ [name]: own(name, row.other, of) });
  const shown = (which: "set" | "other", of: string) => {
    const [member = "", value] = Object.entries(row.shown[which])[0] ?? [];
    return { [member]: own(name, value, of) };
  };

  it("is set, changed, cleared and set again by the API, in its answers and its history", async () => {
    const made = await shorten(set("api"));
    expect([made.status, carried(made.body)]).toEqual([201, shown("set", "api")]);
    const { slug } = made.body;
    expect(carried(await read(slug))).toEqual(shown("set", "api"));
    for (const [change, after] of [
      [other("api"), shown("other", "api")],
      [{ [name]: null }, {}],
      [set("api"), shown("set", "api")],
    ] as const) {
      const changed = await patch(slug, change);
      expect([changed.status, carried(changed.body)]).toEqual([200, after]);
      expect(carried(await read(slug))).toEqual(after);
    }
    const { body } = await service.ask<{ history: { type: string; changes: object }[] }>(
      `/api/v1/links/${slug}/history`,
      { key },
    );
    const changes = body.history.filter(({ type }) => type === "LinkOptionsChanged");
    expect(changes.length).toBeGreaterThanOrEqual(2);
    for (const one of changes) expect(Object.keys(one.changes)).toEqual([name]);
  });

  it("is refused by its name where it is wrong, and nothing is changed", async () => {
    const { body } = await shorten({});
    const refusals = [
      await service.post<{ error: string }>("/api/v1/shorten", key, { url: URL, [name]: wrong }),
      await patch(body.slug, { url: "https://example.com/other", [name]: wrong }),
    ];
    for (const refusal of refusals) {
      expect(refusal.status).toBe(400);
      expect(refusal.body.error).toContain(name);
    }
    const after = await read(body.slug);
    expect([after.long_url, carried(after)]).toEqual([URL, {}]);
  });

  it("is set, changed, cleared and refused in bulk", async () => {
    const links = [{ url: URL, ...set("bulk") }, { url: URL }, { url: URL, [name]: wrong }];
    const made = await service.post<Bulk>("/api/v1/shorten/bulk", key, { links });
    expect(made.body.results.map(carried)).toEqual([shown("set", "bulk"), {}]);
    expect([made.body.failed, made.body.errors[0]?.error]).toEqual([1, expect.stringContaining(name)]);
    const [first = "", second = ""] = made.body.results.map(({ slug }) => slug);
    const change = (items: object[]) =>
      service.ask<Bulk>("/api/v1/links/bulk", { method: "PATCH", key, body: { links: items } });
    const changed = await change([
      { slug: first, [name]: null },
      { slug: second, ...other("bulk") },
      { slug: second, [name]: wrong },
    ]);
    expect(changed.body.results.map(carried)).toEqual([{}, shown("other", "bulk")]);
    expect([changed.body.failed, changed.body.errors[0]?.error]).toEqual([1, expect.stringContaining(name)]);
    expect([carried(await read(first)), carried(await read(second))]).toEqual([{}, shown("other", "bulk")]);
  });

  it("is set and cleared in the portal", async () => {
    const path = await people.shorten(owner, URL, typed);
    const slug = path.split("/").at(-1) ?? "";
    expect(carried(await read(slug))).toEqual(row.shown.set);
    await owner.submit(path, emptied, `${path}/edit`);
    expect(carried(await read(slug))).toEqual({});
  });

  it.skipIf(onCluster())(
    "comes with an import of a table, and is refused there where it is wrong",
    async () => {
      const cell = (value: unknown) => `"${String(value).replaceAll('"', '""')}"`;
      const file = join(folder.path, `${name}.csv`);
      const good = column ?? String(own(name, row.set, "table"));
      const bad =
        typeof wrong === "object" ? (name === "tags" ? String(wrong) : JSON.stringify(wrong)) : wrong;
      const slugs = [`${name}-good`, `${name}-bad`].map((text) => text.replaceAll("_", "-"));
      const rows = [good, bad].map((value, n) => `${URL},${slugs[n]},${cell(value)}`);
      await writeFile(file, `url,slug,${name}\n${rows.join("\n")}\n`);
      const report = await cliOf(service).json("import", "csv", file, "--account", owner.accountId);
      expect(carried(await read(slugs[0] ?? ""))).toEqual(shown("set", "table"));
      // Texts that are too long are shortened, and the report says so.
      const isShortened = ["title", "comments", "tags"].includes(name);
      expect(report.links).toMatchObject(isShortened ? { created: 2 } : { created: 1, failed: 1 });
      expect(JSON.stringify(report)).toContain(name);
    },
  );
});

describe.skipIf(onCluster())("all fields together", () => {
  const withdrawn = (link: Record<string, unknown>) => {
    const { slug, long_url, status } = link;
    return { slug, long_url, status, ...carried(link) };
  };

  it("are the same after the documents were built anew", async () => {
    await newKey();
    const all = Object.fromEntries(FIELD_NAMES.map((name) => [name, own(name, FIELDS[name].set, "rebuilt")]));
    const { body, status } = await shorten(all);
    expect(status).toBe(201);
    await patch(body.slug, { title: "Changed", redirect_code: null });
    const list = async () => {
      const { body: page } = await service.ask<{ links: Link[] }>("/api/v1/links?scope=account&limit=100", {
        key,
      });
      return page.links;
    };
    const before = await list();
    expect(carried(before.find(({ slug }) => slug === body.slug) ?? {})).toMatchObject({
      title: "Changed",
      rules: FIELDS.rules.set,
      has_password: true,
    });
    await cliOf(service).json("projections", "rebuild", "links");
    await until("the new documents", async () => {
      const status = await cliOf(service).json("projections", "status");
      return !JSON.stringify(status).includes('"building"');
    });
    expect(await list()).toEqual(before);
  });

  it("move to another instance by export and import, passwords too", async () => {
    const elsewhere = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
    try {
      const newOwner = await elsewhere.member("developer");
      const file = join(folder.path, "account.ndjson");
      await cliOf(service).json("export", "account", owner.accountId, "--out", file);
      const report = await cliOf(elsewhere).json(
        ...["import", "linkledger", file, "--account", newOwner.accountId],
      );
      expect(report.links.failed).toBe(0);
      const listed = await service.ask<{ links: Link[]; total: number }>(
        "/api/v1/links?scope=account&limit=100",
        { key },
      );
      expect(listed.body.total).toBe(report.links.created);
      for (const { slug } of listed.body.links.slice(0, 50))
        expect(withdrawn(await read(slug, elsewhere, newOwner.key))).toEqual(withdrawn(await read(slug)));
      const guarded = listed.body.links.find(
        (link) => link.has_password && !link.max_clicks && !link.active_from && !link.rules,
      );
      const form = (password: string) =>
        elsewhere.ask(`/${guarded?.slug}`, {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: `password=${encodeURIComponent(password)}`,
        });
      expect((await form("wrong")).status).toBe(401);
      expect((await form("another")).status + (await form("open sesame")).status).toBe(303 + 401);
    } finally {
      await elsewhere.stop();
    }
  });
});
