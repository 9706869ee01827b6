// The numbers of an account over real HTTP, the single clicks that they count, and these as a file.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AccountAnalyticsAnswer,
  AccountAnalyticsSchema,
} from "../../src/api/analytics/account-schema.ts";
import { GROUPS } from "../../src/queries/analytics/question.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
const DESK = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

type Answer = AccountAnalyticsAnswer & { error: string; code: string };
type Page = { clicks: Record<string, string>[]; next_cursor: string | null };

let service: TestService;
let developer: Member;
let [tagged, plain] = ["", ""];
const ask = (query = "", key = developer.key) => service.ask<Answer>(`/api/v1/analytics?${query}`, { key });
const visit = (path: string, headers: Record<string, string>) => service.ask(path, { headers });

beforeAll(async () => {
  service = await startTestService();
  developer = await service.member("developer");
  const shorten = (body: object, key = developer.key) =>
    service.shorten(key, { url: "https://example.com/", ...body });
  tagged = await shorten({ title: "Spring", tags: ["sale", "mail"] });
  plain = await shorten({ url: "https://example.com/?utm_source=mail" });
  await visit(`/${tagged}`, { "user-agent": PHONE, referer: "https://www.news.example/a" });
  await visit(`/${tagged}?qr=1`, { "user-agent": PHONE });
  await visit(`/${plain}`, { "user-agent": DESK });
  await visit(`/${plain}`, { "user-agent": "Googlebot/2.1" });
  const other = await service.member("developer");
  await visit(`/${await shorten({}, other.key)}`, { "user-agent": DESK });
  await until("all clicks to be counted", async () => (await ask()).body.totals.people === 3);
});
afterAll(() => service.stop());

describe("GET /api/v1/analytics", () => {
  it("answers the account's totals, series and visitors", async () => {
    const { status, body } = await ask("timezone=Asia/Kathmandu&interval=hour&compare=previous");
    expect(status).toBe(200);
    expect(AccountAnalyticsSchema.strict().safeParse(body).error).toBeUndefined();
    expect(body.totals).toMatchObject({ people: 3, click: 2, qr_scan: 1, preview: 1, visitors: 2 });
    expect(body.previous?.totals).toMatchObject({ people: 0, visitors: 0 });
    expect(body.range).toMatchObject({ interval: "hour", timezone: "Asia/Kathmandu" });
    expect(body.series.reduce((sum, { people }) => sum + people, 0)).toBe(3);
  });

  it.each(GROUPS)("groups by %s, of which each value is a filter of this name", async (group) => {
    const { status, body } = await ask(`group_by=${group}`);
    expect([status, AccountAnalyticsSchema.strict().safeParse(body).error]).toEqual([200, undefined]);
    for (const { value, people, preview } of body.groups ?? []) {
      const filtered = await ask(`${group}=${encodeURIComponent(value)}`);
      expect([value, filtered.status, filtered.body.totals]).toMatchObject([value, 200, { people, preview }]);
    }
  });

  it("names links and their titles, tags, referrers, and what is beyond the limit", async () => {
    const groups = async (query: string) => (await ask(query)).body;
    expect((await groups("group_by=link&limit=1")).groups).toMatchObject([
      { value: expect.stringContaining(`/${tagged}`), label: "Spring", people: 2 },
    ]);
    expect((await groups("group_by=link&limit=1")).other).toMatchObject({ people: 1, preview: 1 });
    expect((await groups("group_by=tag")).groups?.map(({ value }) => value)).toEqual(["mail", "sale"]);
    expect((await groups("group_by=referrer&referrer=NEWS.example")).groups).toMatchObject([
      { value: "news.example", people: 1 },
    ]);
    expect((await groups("group_by=utm_source")).groups).toMatchObject([{ value: "mail", people: 1 }]);
  });

  it("takes any of a filter's values, and all filters together", async () => {
    expect((await ask(`link=${tagged}&link=${plain}`)).body.totals.people).toBe(3);
    expect((await ask(`link=${tagged}&kind=qr_scan`)).body.totals).toMatchObject({ people: 1, click: 0 });
    expect((await ask("tag=sale&device=desktop")).body.totals.people).toBe(0);
  });

  it("takes a deleted link as a filter by its slug as by its address", async () => {
    const { key } = await service.member("developer");
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, {
      url: "https://example.com/",
    });
    await visit(`/${body.slug}`, { "user-agent": DESK });
    await until("the click", async () => (await ask("", key)).body.totals.people === 1);
    await service.ask(`/api/v1/links/${body.slug}`, { method: "DELETE", key });
    for (const link of [body.slug, `localhost/${body.slug}`, body.slug.toUpperCase()])
      expect([link, (await ask(`link=${link}`, key)).body.totals.people]).toEqual([link, 1]);
  });

  it("finds hosts as they are shown, and values in any case", async () => {
    const one = await service.member("developer");
    const domain_id = await service.domain(one.accountId, "müller.example");
    const body = { url: "https://example.com/", domain_id, customSlug: "hallo" };
    await service.post("/api/v1/shorten", one.key, body);
    await service.ask("/hallo", {
      host: "xn--mller-kva.example",
      headers: { "user-agent": DESK, referer: "https://x.example/page" },
    });
    await until("the click", async () => (await ask("", one.key)).body.totals.people === 1);
    const spelt = ["xn--mller-kva.example", "müller.example", "MÜLLER.example.", "müller.example:443"];
    const written = [...spelt, "https://müller.example", "m%C3%BCller.example"];
    const filters = [
      ...written.map((host) => ["domain", host] as const),
      ...written.map((host) => ["link", `${host}/Hallo`] as const),
      ...(["https://x.example/", "X.example", "https://www.x.example/page"] as const).map(
        (page) => ["referrer", page] as const,
      ),
      ...[["os", "linux"] as const, ["browser", "FIREFOX"] as const, ["device", "Desktop"] as const],
    ];
    for (const [field, value] of filters) {
      const query = new URLSearchParams({ [field]: value });
      const page = await service.ask<Page>(`/api/v1/clicks?${query}`, { key: one.key });
      const file = await service.ask(`/api/v1/clicks/export?format=ndjson&${query}`, { key: one.key });
      const { totals } = (await ask(query.toString(), one.key)).body;
      const lines = file.text.split("\n").filter(Boolean);
      expect([value, totals?.people, page.body.clicks?.length, lines.length]).toEqual([value, 1, 1, 1]);
    }
  });

  it("needs the Developer tier", async () => {
    const free = await service.member("free");
    for (const path of ["analytics", "clicks", "clicks/export"])
      expect((await service.ask(`/api/v1/${path}`, { key: free.key })).status).toBe(402);
  });

  it("refuses what it can't answer, and says which parameter may be what", async () => {
    const other = await service.member("developer");
    const foreign = (
      await service.post<{ slug: string }>("/api/v1/shorten", other.key, { url: "https://example.com/" })
    ).body.slug;
    const refused: [query: string, status: number, code: string, message: RegExp][] = [
      ["group_by=planet", 400, "invalid_request", /group_by.*must be one of/],
      ["contry=FR", 400, "invalid_request", /contry/],
      ["country=France", 400, "invalid_request", /country.*two letters.*did you mean FR/],
      ["timezone=berlin", 400, "invalid_range", /did you mean Europe\/Berlin/],
      ["domain=a+b", 400, "invalid_request", /domain.*host/],
      ["kind=human", 400, "invalid_request", /kind.*must be one of/],
      ["hour=24", 400, "invalid_request", /hour.*00 to 23/],
      ["weekday=0", 400, "invalid_request", /weekday.*1/],
      ["day=2026-02-30", 400, "invalid_request", /day.*must be/],
      ["limit=0", 400, "invalid_request", /limit/],
      ["timezone=Mars/Olympus", 400, "invalid_range", /IANA/],
      ["from=2026-02-01&to=2026-01-01", 400, "invalid_range", /before/],
      ["from=2020-01-01&interval=hour", 400, "invalid_range", /points/],
      ["from=2999-01-01", 400, "invalid_range", /before/],
      ["link=nothing-here", 404, "not_found", /not found/],
      [`link=${foreign}`, 403, "forbidden", /another account/],
      [`link=localhost/${foreign}`, 403, "forbidden", /another account/],
      ["link=localhost/nothing-here", 404, "not_found", /not found/],
    ];
    for (const [query, status, code, message] of refused) {
      const { body, ...answer } = await ask(query);
      expect([query, answer.status, body.code, body.error]).toEqual([
        query,
        status,
        code,
        expect.stringMatching(message),
      ]);
    }
  });
});

describe("GET /api/v1/clicks", () => {
  it("pages over the clicks that the numbers count", async () => {
    const seen: Record<string, string>[] = [];
    let [cursor, pages] = ["", 0];
    for (;;) {
      const { status, body, headers } = await service.ask<Page>(`/api/v1/clicks?limit=2${cursor}`, {
        key: developer.key,
      });
      expect(status).toBe(200);
      seen.push(...body.clicks);
      pages += 1;
      if (body.next_cursor === null) break;
      expect(headers.link).toContain('rel="next"');
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect([pages, seen.map(({ type }) => type)]).toEqual([2, ["click", "qr_scan", "click", "preview"]]);
    expect(seen[0]).toMatchObject({
      link: expect.stringContaining(`/${tagged}`),
      os: "iOS",
      ip: "127.0.0.0",
    });
    expect(seen[0]).not.toHaveProperty("account_id");
    const filtered = await service.ask<Page>("/api/v1/clicks?tag=sale&kind=click", { key: developer.key });
    expect(filtered.body.clicks).toEqual([seen[0]]);
  });

  it("refuses a cursor that is none, or of another log", async () => {
    for (const [cursor, code] of [
      ["nonsense", "invalid_cursor"],
      [Buffer.from(JSON.stringify(["9".repeat(20), "1"])).toString("base64url"), "invalid_position"],
    ])
      expect(await service.ask(`/api/v1/clicks?cursor=${cursor}`, { key: developer.key })).toMatchObject({
        status: 400,
        body: { code },
      });
  });
});

describe("GET /api/v1/clicks/export", () => {
  it.each(["csv", "ndjson", "parquet"] as const)("streams them as %s, which DuckDB reads", async (format) => {
    const folder = await temporaryFolder();
    const file = join(folder.path, `clicks.${format}`);
    const answer = await fetch(`${service.url}/api/v1/clicks/export?format=${format}&tag=sale`, {
      headers: { "x-api-key": developer.key },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="clicks.${format}"`);
    await writeFile(file, Buffer.from(await answer.arrayBuffer()));
    const read = { csv: "read_csv", ndjson: "read_json", parquet: "read_parquet" }[format];
    const duck = await (await DuckDBInstance.create()).connect();
    const rows = await duck.runAndReadAll(`SELECT type, os FROM ${read}('${file}') ORDER BY type`);
    expect(rows.getRowObjects()).toEqual([
      { type: "click", os: "iOS" },
      { type: "qr_scan", os: "iOS" },
    ]);
    await folder.remove();
  });

  it("guards its CSV against formulas where it is for a spreadsheet, and only there", async () => {
    const { key } = developer;
    const formula = "=1+1";
    await visit(`/${plain}`, { "user-agent": formula });
    const file = (query: string) => service.ask(`/api/v1/clicks/export?${query}`, { key });
    await until("the visit", async () => (await file("format=csv")).text.includes(formula));
    expect((await file("format=csv")).text).toMatch(/^link,at,[\s\S]*,=1\+1,/);
    expect((await file("for=spreadsheet")).text).toMatch(/^\ufefflink \(for spreadsheets: [\s\S]*,'=1\+1,/);
    expect((await file("format=ndjson&for=spreadsheet")).status).toBe(400);
  });
});
