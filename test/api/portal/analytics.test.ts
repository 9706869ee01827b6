// Dashboard and analytics page over real HTTP: numbers without scripts, filters in the address, escaping of request data, live updates.
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { newEvent } from "../../../src/events/new-event.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, peopledService, portalPeople } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService } from "../../support/service/start-service.ts";

const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
const browser = (more: Record<string, string> = {}) => ({ "user-agent": IPHONE, ...more });

const { service, people } = peopledService();

/** The page's number of these. */
function total(text: string, metric: "people" | "visitors" | "qr_scan" | "preview"): number {
  return Number(new RegExp(`data-total="${metric}">([\\d,]+)<`).exec(text)?.[1]?.replace(",", ""));
}

const totals = (text: string) =>
  (["people", "visitors", "qr_scan", "preview"] as const).map((metric) => total(text, metric));

/** Of the link whose page is at the path. */
function analyticsOf(path: string, query = ""): string {
  return `/portal/analytics?link=localhost/${path.split("/").at(-1)}${query && `&${query}`}`;
}

/** The rows of the chart's table: when a point begins, and its numbers. */
function pointsOf(text: string): { start: string; people: number }[] {
  const [, points = ""] = text.split('id="points"');
  const [, rows = ""] = (points.split("</table>")[0] ?? "").split("<tbody>");
  return [...rows.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) => {
    const cells = [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = ""]) => cell);
    return { start: cells[0] ?? "", people: Number(cells[1]) };
  });
}

/** Of a field: names and numbers of its bars, in order, and where they lead. */
function barsOf(text: string, field: string): { name: string; number: number; href: string }[] {
  const [, panel = ""] = decoded(text).split(`id="tab-${field}"`);
  const [shown = ""] = panel.split(/<input type="radio"|<\/section>/, 1);
  const bar = /href="([^"]*)"[^>]*>.*?bar-name clip">(.*?)<\/span><span class="number">([\d,]+)</gs;
  return [...shown.matchAll(bar)].map(([, href = "", name = "", number = ""]) => ({
    ...{ href, name, number: Number(number.replace(",", "")) },
  }));
}

const named = (bars: { name: string; number: number }[]) => bars.map(({ name, number }) => [name, number]);

/** The link's page, once it has as many hits of all kinds. */
async function counted(one: Person, path: string, hits: number): Promise<string> {
  let text = "";
  await until(`${hits} hits`, async () => {
    text = (await one.get(analyticsOf(path))).text;
    return total(text, "people") + total(text, "preview") === hits;
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

/** The codes of one of a day. */
const visitor = (digit: string) => ({ visitor: digit.repeat(16), accountVisitor: digit.repeat(16) });

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

describe("the dashboard", { timeout: 60_000 }, () => {
  it("offers a newcomer the first link, and shows it with its clicks afterwards", async () => {
    const one = await people.person();
    expect((await one.get("/portal")).text).toContain("Make your first short link");
    const path = await people.shorten(one, "https://example.com/first");
    expect((await one.get("/portal")).text).toContain("Nobody has followed");
    for (let n = 0; n < 3; n += 1) await people.follow(path, browser());
    await until("three clicks", async () => total((await one.get("/portal")).text, "people") === 3);
    const { text } = await one.get("/portal");
    expect(pointsOf(text)).toHaveLength(24);
    expect(text).toMatch(/bar-name clip">localhost\/\w+<\/span><span class="number">3</);
    expect(text).toContain("Active API keys");
  });

  it("shows the last seven days and the most clicked links, each leading to its numbers", async () => {
    const one = await people.developer();
    const old = await people.shorten(one, "https://example.com/old");
    const fresh = await people.shorten(one, "https://example.com/fresh");
    await clickedBefore(one, old, [{ at: daysAgo(10) }, { at: daysAgo(3) }]);
    await clickedBefore(one, fresh, [{ at: daysAgo(1), kind: "qr_scan" }, { at: daysAgo(0) }]);
    await until("three clicks", async () => total((await one.get("/portal")).text, "people") === 3);
    const text = decoded((await one.get("/portal")).text);
    expect(pointsOf(text)).toHaveLength(7);
    const top = [...text.matchAll(/href="(\/portal\/analytics\?[^"]*&link=[^"]*)"/g)].map(
      ([, href = ""]) => href,
    );
    expect(top.map((href) => decodeURIComponent(href).split("localhost/")[1])).toEqual(
      [fresh, old].map((path) => path.split("/").at(-1)),
    );
    expect(total((await one.get(top[0] ?? "")).text, "people")).toBe(2);
  });
});

describe("the analytics page", { timeout: 60_000 }, () => {
  it("is filtered by a click on a row, and shows the same to whoever opens its address", async () => {
    const one = await people.developer();
    const [spring, summer] = [
      await people.shorten(one, "https://example.com/a", { tags: "spring" }),
      await people.shorten(one, "https://example.com/b", { tags: "summer" }),
    ];
    await clickedBefore(one, spring, [
      {
        at: daysAgo(1),
        country: "FR",
        city: "Paris",
        device: "mobile",
        ...visitor("1"),
      },
      { at: daysAgo(1), country: "FR", city: "Lyon", device: "desktop", ...visitor("2") },
      { at: daysAgo(2), country: "DE", city: "Berlin", kind: "qr_scan", ...visitor("3") },
      { at: daysAgo(2), country: "DE", city: "Berlin", kind: "preview", device: "bot" },
    ]);
    await clickedBefore(one, summer, [
      { at: daysAgo(1), country: "FR", city: "Nice", device: "mobile", ...visitor("1") },
    ]);
    const page = "/portal/analytics?range=7d&timezone=UTC";
    await until("five hits", async () => total((await one.get(page)).text, "people") === 4);
    const all = (await one.get(page)).text;
    expect(totals(all)).toEqual([4, 3, 1, 1]);
    expect(named(barsOf(all, "country"))).toEqual([
      ["France", 3],
      ["Germany", 1],
    ]);
    expect(named(barsOf(all, "tag"))).toEqual([
      ["spring", 3],
      ["summer", 1],
    ]);
    const follow = async (text: string, field: string, name: string) => {
      const href = barsOf(text, field).find((bar) => bar.name === name)?.href ?? "";
      return { href, text: decoded((await one.get(href)).text) };
    };
    const france = await follow(all, "country", "France");
    expect(totals(france.text)).toEqual([3, 2, 0, 0]);
    const mobile = await follow(france.text, "device", "Mobile");
    expect(mobile.href).toBe(`${page}&country=FR&device=mobile`);
    expect([totals(mobile.text), named(barsOf(mobile.text, "city"))]).toEqual([
      [2, 1, 0, 0],
      [
        ["Nice, France", 1],
        ["Paris, France", 1],
      ],
    ]);
    const chips = [...mobile.text.matchAll(/chip" href="([^"]*)".*?chip-field">(.*?)<.*?clip">(.*?)</g)].map(
      ([, ...chip]) => chip,
    );
    expect(chips).toEqual([
      [`${page}&device=mobile`, "Country", "France"],
      [`${page}&country=FR`, "Device", "Mobile"],
    ]);
    const tagged = (await one.get(`${page}&tag=spring&country=DE&show=preview`)).text;
    expect([totals(tagged), named(barsOf(tagged, "device"))]).toEqual([[1, 1, 1, 1], [["Bot", 1]]]);
    const days = (await one.get(`${page}&day=${daysAgo(2).slice(0, 10)}`)).text;
    expect(totals(days)).toEqual([1, 1, 1, 1]);
    expect((await one.get(`${page}&country=AQ`)).text).toContain("No click fits all filters");
    const other = await people.developer();
    expect((await other.get(`${page}&link=localhost/${spring.split("/").at(-1)}`)).status).toBe(404);
    expect(totals((await other.get(`${page}&tag=spring`)).text)).toEqual([0, 0, 0, 0]);
  });

  it("stays open all day on several screens: what is refreshed uses up no allowance", async () => {
    const strict = await startTestService({ TRUST_PROXY: "127.0.0.1/32", RATE_LIMIT_DEVELOPER: "2" });
    try {
      const one = await portalPeople(strict).developer();
      await portalPeople(strict).shorten(one, "https://example.com/");
      for (let n = 0; n < 5; n += 1)
        expect((await one.get("/portal/analytics?country=FR&device=mobile&range=7d")).status).toBe(200);
      expect((await one.get("/portal/links?q=example")).status).toBe(200);
      await portalPeople(strict).shorten(one, "https://example.com/more");
    } finally {
      await strict.stop();
    }
  });

  it("takes what people write of hosts and values, and says what is wrong with others", async () => {
    const one = await people.developer();
    const { accountId } = one;
    const domainId = await service.domain(accountId, "bücher.example");
    const form = async () => (await one.get("/portal/links/new")).text;
    await until("the domain", async () => (await form()).includes("bücher.example"));
    const made = await people.shorten(one, "https://example.com/", { domain: domainId, slug: "hallo" });
    expect(made).toBe("/portal/links/xn--bcher-kva.example/hallo");
    const text = async (path: string) => {
      const { status, text } = await one.get(path);
      return [status, decoded(text)] as const;
    };
    for (const host of ["bücher.example", "BÜCHER.example.", "xn--bcher-kva.example", "bücher.example:443"]) {
      const link = new URLSearchParams({ link: `${host}/Hallo` });
      const own = `links/${encodeURIComponent(host)}/hallo`;
      for (const path of [own, `${own}/explain`, `analytics?${link}`, `analytics/why?${link}`]) {
        const [status, page] = await text(`/portal/${path}`);
        expect([path, status, page.includes("bücher.example/hallo")]).toEqual([path, 200, true]);
      }
    }
    for (const [query, said] of [
      ["country=UK", "did you mean GB?"],
      ["device=mobil", "did you mean mobile?"],
      ["link=%20/", "names no link"],
      ["timezone=Berlin", "did you mean Europe/Berlin?"],
      ["range=custom&timezone=Berlin", "did you mean Europe/Berlin?"],
    ] as const) {
      const [status, page] = await text(`/portal/analytics?${query}`);
      expect([query, status, page.includes(said), page.includes("data-total")]).toEqual([
        query,
        400,
        true,
        false,
      ]);
    }
  });

  it("has the days of the zone that was chosen for the account, in each of its browsers", async () => {
    const one = await people.developer();
    await people.shorten(one, "https://example.com/");
    one.cookies.set("linkledger-zone", "Asia/Tokyo");
    const zones = async () =>
      await Promise.all(
        ["/portal", "/portal/analytics", "/portal/analytics?timezone=UTC"].map(
          async (page) => /Times are those of ([^<]*)\. </.exec((await one.get(page)).text)?.[1],
        ),
      );
    expect(await zones()).toEqual(["Asia/Tokyo", "Asia/Tokyo", "UTC"]);
    const choose = (timezone: string) =>
      one.submit("/portal/account", { timezone }, "/portal/account/time-zone");
    expect((await choose("America/Sao_Paulo")).text).toContain("Saved. Your numbers");
    expect(await zones()).toEqual(["America/Sao Paulo", "America/Sao Paulo", "UTC"]);
    // Names that Intl knows, and doesn't list.
    for (const alias of ["Asia/Kolkata", "Europe/Kyiv", "Etc/UTC"]) {
      await choose(alias);
      expect((await zones())[0]).toBe(alias);
    }
    const refused = await choose("Mars/<b>");
    expect(refused.status).toBe(400);
    expect(decoded(refused.text)).toMatch(/id="own-zone-error">.*There is no time zone “Mars\/<b>”/);
    await choose("");
    expect((await zones())[0]).toBe("Asia/Tokyo");
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
    expect([total(text, "people"), total(text, "qr_scan"), total(text, "preview")]).toEqual([2, 1, 1]);
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
      analyticsOf(path),
      path,
      "/portal/links",
      "/portal",
      `/portal/links?q=${encodeURIComponent(evil)}`,
    ]) {
      const { text } = await one.get(page);
      expect(text, page).not.toMatch(/<script>|<img src=x|onerror=alert\(2\)>/);
      expect(text, page).not.toMatch(/(?:href|src)="(?!https?:|\/|#main)/);
    }
    expect(decoded((await one.get(analyticsOf(path))).text)).toContain("<script>alert(1)</script>");
  });

  it("say how many each of the link's rules led", async () => {
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
    const { text } = await one.get(analyticsOf(path));
    expect(named(barsOf(text, "rule"))).toEqual([
      ["<Portuguese>", 2],
      ["None of them", 1],
    ]);
    expect(text).not.toContain("<Portuguese>");
  });

  it("come as CSV and NDJSON on the Developer plan, each click once, no cell a formula", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/?utm_source=mail");
    const formula = '=HYPERLINK("https://evil.example","a,b")';
    await people.follow(path, { "user-agent": formula });
    for (let n = 0; n < 2; n += 1) await people.follow(path, browser(), "?qr=1");
    await people.follow(await people.shorten(one, "https://example.com/other"), browser());
    await counted(one, path, 3);
    const page = await one.get(analyticsOf(path, "range=30d"));
    const [, address = ""] = /href="([^"]*clicks\.csv[^"]*)"/.exec(page.text) ?? [];
    const csv = await one.get(decoded(address));
    expect(csv.headers["content-disposition"]).toBe('attachment; filename="clicks.csv"');
    const [head, ...lines] = csv.text.trimEnd().split("\r\n");
    expect(head).toMatch(/^\ufefflink \(for spreadsheets: [^,]*\),at,type,/);
    expect(lines).toHaveLength(3);
    expect(csv.text).toContain(`"'${formula.replaceAll('"', '""')}"`);
    const { text } = await one.get(decoded(address).replace(".csv", ".ndjson"));
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
    for (const file of ["clicks.csv", "numbers.csv"]) {
      expect((await free.get(analyticsOf(own).replace("?", `/${file}?`))).status).toBe(402);
      const other = await people.developer();
      expect((await other.get(analyticsOf(path).replace("?", `/${file}?`))).status).toBe(404);
    }
  });

  it("come as files, each card and the chart, as they are on the page, and list their clicks under any filter", async () => {
    const one = await people.developer();
    const [path, other] = [
      await people.shorten(one, "https://example.com/"),
      await people.shorten(one, "https://example.com/other"),
    ];
    const hits = (city: string, kind?: "qr_scan") => ({
      at: daysAgo(2),
      country: "FR",
      city,
      kind: kind ?? "click",
    });
    await clickedBefore(one, path, [hits("Lyon"), hits("Lyon", "qr_scan"), hits("=cmd")] as never);
    await clickedBefore(one, other, [hits("Nice"), { at: daysAgo(2), country: "DE", city: "Bonn" }] as never);
    const account = "/portal/analytics?range=7d";
    await until("five clicks", async () => total((await one.get(account)).text, "people") === 5);
    for (const [query, people] of [
      ["", 5],
      ["&country=FR", 4],
      [`&link=localhost/${path.split("/").at(-1)}`, 3],
    ] as const) {
      const { text } = await one.get(account + query);
      const recent = text.split('id="recent"')[1] ?? "";
      expect([query, recent.match(/<time /g)?.length]).toEqual([query, people]);
      const files = [...decoded(text).matchAll(/href="([^"]*numbers\.csv[^"]*&of=(\w+))"/g)];
      expect(files.map(([, , of]) => of)).toEqual(expect.arrayContaining(["series", "city", "weekday_hour"]));
      for (const [, address = "", of] of files) {
        const [head = "", ...rows] = (await one.get(address)).text.trimEnd().split("\r\n");
        const column = head.split(",").indexOf("clicks");
        const sum = rows.reduce(
          (all, row) => all + Number(row.split(",").at(column - head.split(",").length)),
          0,
        );
        expect([query, of, sum]).toEqual([query, of, people]);
      }
    }
    const cities = (await one.get(`/portal/analytics/numbers.csv?range=7d&of=city`)).text;
    expect(cities).toMatch(/"'=cmd, FR",|'=cmd/);
  });

  it("are all of the range that the page names: cards, chart, breakdowns, visitors and recent clicks", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    await clickedBefore(one, path, [
      { at: daysAgo(200), city: "Lyon", ...visitor("a") },
      { at: daysAgo(10), city: "Nice", ...visitor("b") },
      { at: daysAgo(10), city: "Nice", ...visitor("c"), kind: "qr_scan" },
      { at: daysAgo(2), city: "Lille", ...visitor("d") },
    ]);
    await until(
      "four clicks",
      async () => total((await one.get(analyticsOf(path, "range=12mo"))).text, "people") === 4,
    );
    const seen = async (query: string) => {
      const { text } = await one.get(analyticsOf(path, query));
      const recent = text.split('id="recent"')[1] ?? "";
      const charted = pointsOf(text).map((point) => point.people);
      return {
        cards: [total(text, "people"), total(text, "qr_scan"), total(text, "visitors")],
        charted: charted.reduce((sum, point) => sum + point, 0),
        points: charted.length,
        bars: text.match(/<rect class="bar-people/g)?.length ?? 0,
        breakdowns: barsOf(text, "city")
          .map(({ name }) => name.split(",")[0])
          .sort(),
        recent: ["Lille", "Lyon", "Nice"].filter((city) => recent.includes(city)),
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
    expect(await seen("range=7d")).toEqual(of([1, 0, 1], 7, 1, ["Lille"]));
    expect(await seen("range=30d")).toEqual(of([3, 1, 3], 30, 2, ["Lille", "Nice"]));
    expect(await seen("range=12mo")).toMatchObject({ cards: [4, 1, 4], charted: 4, points: 12 });
    const day = daysAgo(10).slice(0, 10);
    expect(await seen(`from=${day}&to=${day}`)).toEqual(of([2, 1, 2], 24, 1, ["Nice"]));
    for (const first of ["2025-12-01", "2022-01-01", "1999-01-01"])
      expect((await seen(`from=${first}`)).points).toBeLessThanOrEqual(400);
    const { status, text } = await one.get(analyticsOf(path, "from=1900-01-01"));
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
      const { text } = await one.get(analyticsOf(path, `range=custom&${query}`));
      const labels = [...text.matchAll(/text-anchor="\w+">([^<]+)</g)].map(([, label]) => label);
      expect(pointsOf(text)).toHaveLength(points);
      expect(labels.length).toBeGreaterThanOrEqual(least);
      expect(labels).toEqual([...new Set(labels)]);
    }
  });

  it("are of people, and of bots where previews are shown", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    const bot = { kind: "preview", device: "bot", browser: undefined, city: "Bots" } as const;
    await clickedBefore(one, path, [{ at: daysAgo(1) }, ...Array(12).fill({ ...bot, at: daysAgo(0.5) })]);
    const text = await counted(one, path, 13);
    expect(totals(text)).toEqual([1, 1, 0, 12]);
    expect(text).not.toMatch(/>Bot<|>Bots/);
    expect(text.match(/<time /g)).toHaveLength(1);
    const previews = (await one.get(analyticsOf(path, "show=preview"))).text;
    expect(named(barsOf(previews, "device"))).toEqual([["Bot", 12]]);
    expect(previews.match(/<time /g)).toHaveLength(10);
  });

  it("are shown in any zone, without scripts, with what is wrong beside its field", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    await people.follow(path, browser());
    await counted(one, path, 1);
    const page = analyticsOf(path, "range=custom");
    const { status, text } = await one.get(`${page}&timezone=Asia%2FKathmandu&from=&to=`);
    expect([status, total(text, "people")]).toEqual([200, 1]);
    expect(text).toContain("Times are those of Asia/Kathmandu");
    const today = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "Asia/Kathmandu" });
    expect(pointsOf(text).at(-1)?.start).toContain(today.format());
    one.cookies.set("linkledger-zone", "Asia/Tokyo");
    expect((await one.get(analyticsOf(path))).text).toContain("Times are those of Asia/Tokyo");
    for (const [field, query, kept] of [
      ["timezone", "timezone=Mars&from=2026-01-01", 'value="2026-01-01"'],
      ["from", "from=31%20March", 'value="31 March"'],
      ["from", "from=2999-01-01", 'value="2999-01-01"'],
      ["to", "from=2026-02-01&to=2026-01-01", 'value="2026-02-01"'],
    ] as const) {
      const refused = await one.get(`${page}&${query}`);
      const errors = [...refused.text.matchAll(/id="field-(\w+)-error"/g)].map(([, name]) => name);
      expect([query, refused.status, errors]).toEqual([query, 400, [field]]);
      expect(decoded(refused.text)).toContain(kept);
    }
    const before = await one.get(`${page}&to=2020-01-01`);
    expect([before.status, total(before.text, "people")]).toEqual([200, 0]);
    const untilFar = await one.get(`${page}&to=9999-12-31`);
    expect(untilFar.text).toMatch(/id="field-to-error".*At most 33 years can be shown/);
    const free = await people.person();
    expect((await free.get(page)).status).toBe(404);
  });

  it("teach the next step while nobody has come", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/");
    expect((await one.get(analyticsOf(path))).text).toContain("Nobody has been here in this time");
  });
});

describe("live numbers", { timeout: 60_000 }, () => {
  it("are told of by a stream once a click is counted, within two seconds, until the session ends", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    const cookie = [...one.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const url = `http://127.0.0.1:${service.port}/portal/live`;
    const free = await people.person();
    expect((await free.get("/portal/live")).status).toBe(402);
    const stream = await fetch(url, { headers: { cookie, host: "localhost" }, redirect: "manual" });
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = "";
    const hears = async (event: string) => {
      while (!heard.includes(`event: ${event}`)) {
        const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) throw new Error(`The stream ended before ${event}`);
        heard += value;
      }
    };
    await hears("alive");
    const began = performance.now();
    await people.follow(path, browser());
    await hears("changed");
    expect(total((await one.get("/portal")).text, "people")).toBe(1);
    expect(performance.now() - began).toBeLessThan(2_000);
    await one.submit("/portal", {}, "/portal/sign-out");
    for (;;) if ((await reader?.read())?.done !== false) break;
  });

  const scriptOf = async (one: Person, address: string) =>
    (await one.get(address)).text.includes('/live.js"');
  /** Ids of the parts that the script gets again. */
  const partsOf = (text: string) => [...text.matchAll(/id="([\w-]+)" data-live/g)].map(([, id]) => id);

  it("are those of the page, got again, for ranges that go on, on the Developer plan", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    const empty = await one.get(analyticsOf(path));
    expect(partsOf(empty.text)).toEqual(["metrics", "chart", "points", "nobody"]);
    await people.follow(path, browser());
    const text = await counted(one, path, 1);
    expect(partsOf(text)).toEqual(["metrics", "chart", "points", "breakdowns", "recent"]);
    for (const [query, isLive] of [
      ["range=today", true],
      ["range=custom&from=2026-01-01", true],
      ["range=custom&from=2026-01-01&to=2026-01-02", false],
    ] as const)
      expect([query, await scriptOf(one, analyticsOf(path, query))]).toEqual([query, isLive]);
    const free = await people.person();
    const own = await people.shorten(free, "https://example.com/");
    expect(await scriptOf(free, analyticsOf(own))).toBe(false);
  });
});
