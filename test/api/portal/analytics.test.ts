// Dashboard and analytics pages over real HTTP: numbers without scripts, escaping of request data, live updates.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newEvent } from "../../../src/events/new-event.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
const browser = (more: Record<string, string> = {}) => ({ "user-agent": IPHONE, ...more });

let service: TestService;
let people: ReturnType<typeof portalPeople>;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  people = portalPeople(service);
});
afterAll(() => service.stop());

/** Of people, whatever they came by. */
const CLICKS = "click qr_scan";

/** The page's total of these kinds. */
function total(text: string, kind: string): number {
  return Number(new RegExp(`data-total="${kind}">([\\d,]+)<`).exec(text)?.[1]?.replace(",", ""));
}

/** The rows of the chart's table: when a point begins, and its hits. */
function pointsOf(text: string): { start: string; hits: number }[] {
  const [, points = ""] = text.split('id="points"');
  const [, rows = ""] = (points.split("</table>")[0] ?? "").split("<tbody>");
  return [...rows.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) => {
    const cells = [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = ""]) => cell);
    return { start: cells[0] ?? "", hits: Number(cells.at(-1)) };
  });
}

/** The page with bots, once it has as many hits of all kinds. */
async function counted(one: Person, path: string, hits: number): Promise<string> {
  let text = "";
  await until(`${hits} hits`, async () => {
    text = (await one.get(`${path}/analytics?bots=1`)).text;
    return total(text, CLICKS) + total(text, "preview") === hits;
  });
  return text;
}

/** Clicks of the past, as an import appends them. */
async function clickedBefore(one: Person, path: string, clicks: Parameters<typeof linkClicked>[0][]) {
  const link = `localhost/${path.split("/").at(-1)}`;
  const origin = { correlationId: "t", causationId: "t", actor: { type: "operator" as const } };
  const events = clicks.map((click) =>
    newEvent(linkClicked({ link, accountId: one.accountId, ...click }), randomUUID(), origin),
  );
  await service.backend.eventStore.append(`clicks-${randomUUID()}-20260101`, "none", events);
}

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

describe("the dashboard", { timeout: 60_000 }, () => {
  const rowsOf = ({ text }: { text: string }) => pointsOf(text).length;
  const sumOf = ({ text }: { text: string }) => total(text, CLICKS);
  /** Of the table of top links, in order: path of the link, and its clicks. */
  const topOf = ({ text }: { text: string }) =>
    [
      ...text.matchAll(
        /href="(\/portal\/links\/[^"]+)\/analytics\?[\s\S]*?data-label="(?:Clicks|Clicks and previews)"[^>]*>(\d+)</g,
      ),
    ].map(([, path, clicks]) => [path, Number(clicks)]);
  const past = async (one: Person, path: string, days: number, times: number, more = {}) =>
    await clickedBefore(
      one,
      path,
      Array.from({ length: times }, () => ({ at: daysAgo(days), ...more })),
    );

  it("offers a newcomer the first link, and shows it with its clicks afterwards", async () => {
    const one = await people.person();
    expect((await one.get("/portal")).text).toContain("Make your first short link");
    const path = await people.shorten(one, "https://example.com/first");
    expect((await one.get("/portal")).text).toContain("Nobody has followed");
    for (let n = 0; n < 3; n += 1) await people.follow(path, browser());
    await until("three clicks", async () => sumOf(await one.get("/portal")) === 3);
    const page = await one.get("/portal");
    expect(topOf(page)).toEqual([[path, 3]]);
    expect(page.text).toContain("Active API keys");
    expect(rowsOf(page)).toBe(24);
  });

  it("shows longer times on the Developer plan only", async () => {
    const free = await people.person();
    await people.shorten(free, "https://example.com/");
    for (const query of ["range=12mo", "range=custom&from=2020-01-01"])
      expect(rowsOf(await free.get(`/portal?${query}`))).toBe(24);
    const one = await people.developer();
    await people.shorten(one, "https://example.com/");
    const rows = async (range: string) => rowsOf(await one.get(`/portal?range=${range}`));
    expect(await Promise.all(["24h", "7d", "30d", "12mo", "nonsense"].map(rows))).toEqual([24, 7, 30, 12, 7]);
  });

  it("has the numbers and the top links of the range, people's unless bots are included", async () => {
    const one = await people.developer();
    const old = await people.shorten(one, "https://example.com/old");
    const fresh = await people.shorten(one, "https://example.com/fresh");
    const gone = await people.shorten(one, "https://example.com/gone");
    await past(one, old, 10, 5);
    await past(one, old, 3, 1);
    await past(one, fresh, 0, 2, { kind: "qr_scan" });
    await past(one, fresh, 1, 4, { kind: "preview" });
    await past(one, gone, 2, 9);
    await until("the clicks of 30 days", async () => sumOf(await one.get("/portal?range=30d")) === 17);
    await one.submit(gone, {}, `${gone}/delete`);
    const at = async (query: string) => await one.get(`/portal?${query}`);
    const top = async (query: string) => topOf(await at(query));
    await until("the deletion", async () => (await top("range=7d")).length === 2);
    expect(await top("range=30d")).toEqual([
      [old, 6],
      [fresh, 2],
    ]);
    const week = await at("range=7d");
    expect([topOf(week), sumOf(week)]).toEqual([
      [
        [fresh, 2],
        [old, 1],
      ],
      12,
    ]);
    expect(week.text).toContain("4 previews by bots");
    expect(await top("range=7d&bots=1")).toEqual([
      [fresh, 6],
      [old, 1],
    ]);
    expect(await top("range=24h")).toEqual([[fresh, 2]]);
    const day = daysAgo(3).slice(0, 10);
    expect(await top(`range=custom&from=${day}&to=${day}&timezone=UTC`)).toEqual([[old, 1]]);
  });
});

describe("the analytics of a link", { timeout: 60_000 }, () => {
  it("show who followed it, when, from where and on what, in a page without scripts", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/?utm_source=mail");
    const paris = { "x-forwarded-for": "92.184.100.5", referer: "https://www.example.org/page?x=1" };
    await people.follow(path, browser(paris));
    await people.follow(path, browser(paris), "?qr=1");
    await service.ask(`/${path.split("/").at(-1)}`, { method: "HEAD" });
    const text = await counted(one, path, 3);
    expect([total(text, CLICKS), total(text, "qr_scan"), total(text, "preview")]).toEqual([2, 1, 1]);
    expect(text).toContain(">France<");
    expect(text).toContain(">example.org<");
    expect(text).toContain(">Mobile<");
    expect(text).toContain(">Mobile Safari on iOS<");
    expect(text).toContain("UTM source");
    expect(text).toContain("https://www.example.org/page</span>");
    expect(text).toContain("IP Geolocation by DB-IP");
    expect(text).not.toContain("92.184.100.5");
  });

  it("show what strangers send as text, never as markup", async () => {
    const one = await people.person();
    const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>'`;
    const path = await people.shorten(one, `https://example.com/?q=${encodeURIComponent(evil)}&utm_term=<b>`);
    const utm = new URLSearchParams({ utm_source: evil, utm_campaign: evil, utm_content: evil });
    await people.follow(path, { "user-agent": evil, referer: `https://evil.example/${evil}` }, `?${utm}`);
    await people.follow(path, browser({ referer: `javascript:alert("${evil}")` }));
    await counted(one, path, 2);
    for (const page of [
      `${path}/analytics`,
      path,
      "/portal/links",
      "/portal",
      `/portal/links?q=${encodeURIComponent(evil)}`,
    ]) {
      const { text } = await one.get(page);
      expect(text, page).not.toMatch(/<script>|<img src=x|onerror=alert\(2\)>/);
      expect(text, page).not.toMatch(/(?:href|src)="(?!https?:|\/|#main)/);
    }
    expect(decoded((await one.get(`${path}/analytics`)).text)).toContain("<script>alert(1)</script>");
  });

  it("say how many each of the link's rules led, and where", async () => {
    const one = await people.developer();
    const { key } = await service.issueKey(one.accountId);
    const rules = [
      { name: "<Portuguese>", when: { language: "pt" }, url: "https://example.com/pt?a=<b>" },
      { when: { language: "es" }, url: "https://example.com/es" },
    ];
    const made = await service.post<{ slug: string }>("/api/v1/shorten", key, {
      ...{ url: "https://example.com/", rules },
    });
    const path = `/portal/links/localhost/${made.body.slug}`;
    await people.follow(path, browser());
    for (const language of ["pt-BR", "pt"])
      await people.follow(path, browser({ "accept-language": language }));
    await service.ask(`/${made.body.slug}`, { method: "HEAD", headers: { "accept-language": "pt" } });
    await counted(one, path, 4);
    const { text } = await one.get(`${path}/analytics`);
    const card = text.split(">Rules<")[1]?.split("</section>")[0] ?? "";
    const bars = [...card.matchAll(/bar-name clip" title="(.*?)">.*?number">(.*?)<.*?number">(.*?)</gs)];
    expect(bars.map(([, ...cells]) => cells.map((cell) => decoded(cell)))).toEqual([
      ["<Portuguese>", "2", "67%"],
      ["https://example.com/pt?a=<b>", "2", "67%"],
      ["None of them", "1", "33%"],
      ["https://example.com/", "1", "33%"],
    ]);
  });

  it("come as CSV and NDJSON on the Developer plan, each click once, no cell a formula", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/?utm_source=mail");
    const formula = '=HYPERLINK("https://evil.example","a,b")';
    await people.follow(path, { "user-agent": formula });
    for (let n = 0; n < 2; n += 1) await people.follow(path, browser(), "?qr=1");
    await people.follow(await people.shorten(one, "https://example.com/other"), browser());
    await counted(one, path, 3);
    const csv = await one.get(`${path}/clicks.csv`);
    expect(csv.headers["content-disposition"]).toMatch(/^attachment; filename="clicks-\w+\.csv"$/);
    const [head, ...lines] = csv.text.trimEnd().split("\r\n");
    expect(head).toMatch(/^at,type,long_url,device,/);
    expect(lines).toHaveLength(3);
    expect(csv.text).toContain(`"'${formula.replaceAll('"', '""')}"`);
    const { text } = await one.get(`${path}/clicks.ndjson`);
    const clicks = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>);
    expect(clicks.map(({ type, utm_source }) => [type, utm_source])).toEqual([
      ["preview", "mail"],
      ["qr_scan", "mail"],
      ["qr_scan", "mail"],
    ]);
    expect(clicks.map(({ event_id, position }) => [event_id, position])).toEqual(
      clicks.map(() => [expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^\d{20}$/)]),
    );
    const free = await people.person();
    const own = await people.shorten(free, "https://example.com/");
    expect((await free.get(`${own}/clicks.csv`)).status).toBe(402);
    expect((await free.get(`${path}/clicks.csv`)).status).toBe(404);
  });

  it("are all of the range that the page names: cards, chart, breakdowns, visitors and recent clicks", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    await clickedBefore(one, path, [
      { at: daysAgo(200), city: "Lyon", visitor: "a".repeat(16) },
      { at: daysAgo(10), city: "Nice", visitor: "b".repeat(16) },
      { at: daysAgo(10), city: "Nice", visitor: "c".repeat(16), kind: "qr_scan" },
      { at: daysAgo(2), city: "Lille", visitor: "d".repeat(16) },
    ]);
    await until("four clicks", async () =>
      (await one.get(`${path}/analytics?range=12mo`)).text.includes('data-total="click qr_scan">4<'),
    );
    const seen = async (query: string) => {
      const { text } = await one.get(`${path}/analytics?${query}`);
      const [breakdowns = "", recent = ""] = ["breakdowns", "recent"].map(
        (id) => text.split(`id="${id}"`)[1],
      );
      const cities = (part: string) => ["Lille", "Nice", "Lyon"].filter((city) => part.includes(city));
      const charted = pointsOf(text).map(({ hits }) => hits);
      const bars = text.match(/<rect class="bar-/g)?.length ?? 0;
      const visitors = Number(/id="visitors".*?stat-value">(\d+)</.exec(text)?.[1]);
      return {
        cards: [total(text, CLICKS), total(text, "qr_scan"), visitors],
        charted: charted.reduce((a, b) => a + b, 0),
        ...{ points: charted.length, bars, breakdowns: cities(breakdowns), recent: cities(recent) },
      };
    };
    const of = (cards: number[], points: number, bars: number, cities: string[]) => ({
      ...{
        cards,
        charted: cards[0],
        points,
        bars,
        breakdowns: cities,
        recent: cities,
      },
    });
    expect(await seen("range=24h")).toEqual(of([0, 0, 0], 24, 0, []));
    expect(await seen("range=7d")).toEqual(of([1, 0, 1], 7, 1, ["Lille"]));
    expect(await seen("range=30d")).toEqual(of([3, 1, 3], 30, 3, ["Lille", "Nice"]));
    expect(await seen("range=12mo")).toMatchObject({ cards: [4, 1, 4], charted: 4, points: 12 });
    const day = daysAgo(10).slice(0, 10);
    expect(await seen(`from=${day}&to=${day}`)).toEqual(of([2, 1, 2], 24, 2, ["Nice"]));
    for (const first of ["2025-12-01", "2022-01-01", "1999-01-01"])
      expect((await seen(`from=${first}`)).points).toBeLessThanOrEqual(400);
    const { status, text } = await one.get(`${path}/analytics?from=1900-01-01`);
    expect([status, /id="field-from-error"/.test(text)]).toEqual([400, true]);
  });

  it("have each day and each month once below the chart, whatever its points are", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    await people.follow(path, browser());
    await counted(one, path, 1);
    for (const [query, points, least] of [
      ["from=2026-01-01&to=2026-01-03", 72, 3],
      ["from=2024-06-01&to=2026-01-01", 84, 4],
    ] as const) {
      const { text } = await one.get(`${path}/analytics?range=custom&${query}`);
      const labels = [...text.matchAll(/text-anchor="middle">([^<]+)</g)].map(([, label]) => label);
      expect(pointsOf(text)).toHaveLength(points);
      expect(labels.length).toBeGreaterThanOrEqual(least);
      expect(labels).toEqual([...new Set(labels)]);
    }
  });

  it("are of people, until bots are included", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    const bot = { kind: "preview", device: "bot", browser: undefined, city: "Bots" } as const;
    await clickedBefore(one, path, [{ at: daysAgo(1) }, ...Array(12).fill({ ...bot, at: daysAgo(0.5) })]);
    const withBots = await counted(one, path, 13);
    expect(total(withBots, "preview")).toBe(12);
    expect(withBots).toMatch(/>Bot<.*>Bots/s);
    const { text } = await one.get(`${path}/analytics`);
    expect([total(text, CLICKS), total(text, "qr_scan")]).toEqual([1, 0]);
    expect(text).not.toMatch(/data-total="preview"|>Bot<|>Unknown<|>Bots/);
    expect(text.match(/<time /g)).toHaveLength(1);
    expect(decoded(text)).toMatch(/And 12 previews by bots: <a href="[^"]*bots=1">include them/);
    expect(text).not.toContain("of the log");
  });

  it("are shown in any zone and as they stood, without scripts, with what is wrong beside its field", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    await people.follow(path, browser());
    await counted(one, path, 1);
    const page = `${path}/analytics?range=custom`;
    const { status, text } = await one.get(`${page}&timezone=Asia%2FKathmandu&from=&to=&as_of=`);
    expect([status, total(text, CLICKS)]).toEqual([200, 1]);
    expect(text).toContain("Times are those of Asia/Kathmandu");
    const today = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "Asia/Kathmandu" });
    expect(pointsOf(text).at(-1)?.start).toContain(today.format());
    const then = await one.get(`${page}&as_of=${new Date().toISOString()}`);
    expect([then.status, total(then.text, CLICKS), then.text.includes("data-live")]).toEqual([200, 1, false]);
    const head = await service.backend.eventStore.head();
    expect(total((await one.get(`${page}&as_of=${head}`)).text, CLICKS)).toBe(1);
    for (const [field, query, kept] of [
      ["timezone", "timezone=Mars&from=2026-01-01", 'value="2026-01-01"'],
      ["from", "from=31%20March", 'value="31 March"'],
      ["from", "from=2999-01-01", 'value="2999-01-01"'],
      ["to", "from=2026-02-01&to=2026-01-01", 'value="2026-02-01"'],
      ["to", "to=2020-01-01", 'value="2020-01-01"'],
      ["as_of", "as_of=2026-01-01T09:30", 'value="2026-01-01T09:30"'],
      ["as_of", "as_of=soon", 'value="soon"'],
      ["as_of", "as_of=2999-01-01T09:30", 'value="2999-01-01T09:30"'],
      ["as_of", `as_of=${"9".repeat(20)}`, `value="${"9".repeat(20)}"`],
    ] as const) {
      const refused = await one.get(`${page}&${query}`);
      const errors = [...refused.text.matchAll(/id="field-(\w+)-error"/g)].map(([, name]) => name);
      expect([query, refused.status, errors]).toEqual([query, 400, [field]]);
      expect(decoded(refused.text)).toContain(kept);
    }
    const untilFar = await one.get(`${page}&to=9999-12-31`);
    expect(untilFar.text).toMatch(/id="field-to-error".*At most 33 years can be shown/);
    const free = await people.person();
    const own = await people.shorten(free, "https://example.com/");
    await people.follow(own, browser());
    const asked = await free.get(`${own}/analytics?range=12mo&from=2020-01-01`);
    expect([asked.status, asked.text.includes("Clicks, last 12 months")]).toEqual([200, false]);
    await counted(free, own, 1);
    expect((await free.get(`${own}/analytics?range=12mo`)).text).toSatisfy(
      (page: string) => pointsOf(page).length === 24,
    );
    expect((await free.get(page)).status).toBe(404);
  });

  it("teach the next step while nobody has come", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/");
    expect((await one.get(`${path}/analytics`)).text).toContain("Nobody has been here yet");
  });
});

describe("live numbers", { timeout: 60_000 }, () => {
  const scriptOf = async (one: Person, address: string) =>
    (await one.get(address)).text.includes('/console.js"');
  /** Ids of the parts that the script gets again. */
  const partsOf = (text: string) => [...text.matchAll(/id="([\w-]+)" data-live/g)].map(([, id]) => id);

  it("are those of the page, got again, for ranges that go on, on the Developer plan", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    expect(partsOf((await one.get(`${path}/analytics`)).text)).toEqual(["first-click"]);
    await people.follow(path, browser());
    const text = await counted(one, path, 1);
    expect(partsOf(text)).toEqual(["stats", "chart", "points", "breakdowns", "recent"]);
    for (const [query, isLive] of [
      ["range=24h", true],
      ["range=custom&from=2026-01-01", true],
      ["range=custom&from=2026-01-01&to=2026-01-02", false],
      [`as_of=${new Date().toISOString()}`, false],
    ] as const)
      expect([query, await scriptOf(one, `${path}/analytics?${query}`)]).toEqual([query, isLive]);
    const free = await people.person();
    const own = await people.shorten(free, "https://example.com/");
    expect(await scriptOf(free, `${own}/analytics`)).toBe(false);
  });
});
