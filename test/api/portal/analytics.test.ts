// Dashboard and analytics pages over real HTTP: numbers without scripts, escaping of request data, live updates.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";
import { type EventStream, eventStream } from "../../support/service/event-stream.ts";
import { leaveEarly } from "../../support/service/leave-early.ts";
import { onCluster, startTestService, type TestService } from "../../support/service/start-service.ts";

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

/** The page's total of a kind. */
function total(text: string, kind: string): number {
  return Number(new RegExp(`data-total="${kind}">([\\d,]+)<`).exec(text)?.[1]?.replace(",", ""));
}

async function counted(one: Person, path: string, hits: number): Promise<string> {
  let text = "";
  await until(`${hits} clicks`, async () => {
    text = (await one.get(`${path}/analytics`)).text;
    return total(text, "total") === hits;
  });
  return text;
}

describe("the dashboard", { timeout: 60_000 }, () => {
  it("offers a newcomer the first link, and shows it with its clicks afterwards", async () => {
    const one = await people.person();
    expect((await one.get("/portal")).text).toContain("Make your first short link");
    const path = await people.shorten(one, "https://example.com/first");
    expect((await one.get("/portal")).text).toContain("Nobody has followed");
    for (let n = 0; n < 3; n += 1) await people.follow(path, browser());
    await until("three clicks", async () => total((await one.get("/portal")).text, "total") === 3);
    const { text } = await one.get("/portal");
    expect(text).toContain(`href="${path}/analytics"`);
    expect(text).toContain("Active API keys");
    expect(text.match(/<tr data-start=/g)).toHaveLength(24);
  });

  it("shows longer times on the Developer plan only", async () => {
    const free = await people.person();
    await people.shorten(free, "https://example.com/");
    const short = (await free.get("/portal?range=12mo")).text;
    expect(short.match(/<tr data-start=/g)).toHaveLength(24);
    const one = await people.developer();
    await people.shorten(one, "https://example.com/");
    const rows = async (range: string) =>
      (await one.get(`/portal?range=${range}`)).text.match(/<tr data-start=/g)?.length;
    expect(await Promise.all(["24h", "7d", "30d", "12mo", "nonsense"].map(rows))).toEqual([24, 7, 30, 12, 7]);
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
    expect([total(text, "click"), total(text, "qr_scan"), total(text, "preview")]).toEqual([1, 1, 1]);
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

  it("are shown for any range of time in any zone, without scripts, on the Developer plan", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    await people.follow(path, browser());
    await people.follow(path, browser(), "?qr=1");
    expect(await counted(one, path, 2)).toContain(`href="${path}/analytics/range"`);
    const range = `${path}/analytics/range`;
    const { status, text } = await one.get(
      `${range}?interval=hour&timezone=Asia%2FKathmandu&from=&to=&kind=&as_of=`,
    );
    expect([status, total(text, "total"), total(text, "qr_scan")]).toEqual([200, 2, 1]);
    expect(text).toContain("Times are those of Asia/Kathmandu");
    expect(text).toMatch(/<tr data-start="[^"]+\+05:45"><th scope="row">/);
    expect(total((await one.get(`${range}?kind=qr_scan`)).text, "total")).toBe(1);
    expect(
      total((await one.get(`${range}?from=2020-01-01&to=2021-01-01&interval=month`)).text, "total"),
    ).toBe(0);
    const refused = await one.get(`${range}?timezone=Mars&from=2026-01-01`);
    expect(refused.status).toBe(400);
    expect(decoded(refused.text)).toContain('There is no time zone "Mars"');
    expect(refused.text).toContain('value="2026-01-01"');
    const unborn = await one.get(`${range}?as_of=2026-01-01`);
    expect([unborn.status, unborn.text]).toEqual([400, expect.stringContaining('value="2026-01-01"')]);
    const free = await people.person();
    const own = await people.shorten(free, "https://example.com/");
    expect((await free.get(`${own}/analytics/range`)).status).toBe(402);
    expect((await free.get(range)).status).toBe(404);
  });

  it("teach the next step while nobody has come", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/");
    expect((await one.get(`${path}/analytics`)).text).toContain("Nobody has been here yet");
  });
});

describe("live updates", { timeout: 60_000 }, () => {
  const watch = async (one: Person, address: string, more: Record<string, string> = {}) =>
    await eventStream(service.port, address, { cookie: one.cookie(), ...more });
  const liveAddress = async (one: Person, path: string) =>
    decoded(/data-live="([^"]+)"/.exec((await one.get(`${path}/analytics`)).text)?.[1] ?? "");

  /** Number of hits in each message, until the sum is `hits`. */
  async function take(stream: EventStream, hits: number): Promise<number[]> {
    const kinds = [0, 0, 0];
    while (kinds.reduce((a, b) => a + b) < hits) {
      const message = await stream.next("clicks");
      if (!message) break;
      for (const hour of Object.values(message.data.hours as Record<string, number[]>))
        for (const [kind, n] of hour.entries()) kinds[kind] = (kinds[kind] ?? 0) + n;
    }
    return kinds;
  }

  it("go on exactly where the page ended, and after a break where the last message ended", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    const other = await people.shorten(one, "https://example.com/other");
    for (let n = 0; n < 3; n += 1) await people.follow(path, browser());
    await counted(one, path, 3);
    const address = await liveAddress(one, path);
    for (let n = 0; n < 2; n += 1) await people.follow(path, browser(), "?qr=1");

    const first = await watch(one, address);
    expect(first.status).toBe(200);
    expect(await take(first, 2)).toEqual([0, 0, 2]);
    await people.follow(other, browser());
    await people.follow(path, browser());
    expect(await take(first, 1)).toEqual([1, 0, 0]);
    const lastId = first.lastId() ?? "";
    first.close();

    await people.follow(path, browser());
    await people.follow(path, browser(), "?qr=1");
    const second = await watch(one, address, { "last-event-id": lastId });
    expect(await take(second, 2)).toEqual([1, 0, 1]);
    second.close();
  });

  it("say what the page would say, in words", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    const stream = await watch(one, await liveAddress(one, path));
    await people.follow(path, browser({ "x-forwarded-for": "92.184.100.5" }));
    const message = await stream.next("clicks");
    expect(message?.data.recent).toMatchObject([
      { kind: "Click", device: "mobile", browser: "Mobile Safari on iOS", referrer: "Direct" },
    ]);
    expect(JSON.stringify(message)).not.toContain("92.184");
    stream.close();
  });

  it.skipIf(onCluster())("keep no place for browsers that left before their stream began", async () => {
    const one = await people.developer();
    const path = await liveAddress(one, await people.shorten(one, "https://example.com/"));
    const headers = { host: "localhost", cookie: one.cookie() };
    await leaveEarly(service.backend.eventStore, "read", { port: service.port, path, headers }, 10);
    await until("a free place", async () => {
      const stream = await watch(one, path);
      stream.close();
      return stream.status === 200;
    });
  });

  it("end with the session, and are for the Developer plan, ten at a time", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/");
    const address = await liveAddress(one, path);
    const streams: EventStream[] = [];
    for (let n = 0; n < 10; n += 1) streams.push(await watch(one, address));
    expect((await watch(one, address)).status).toBe(429);
    await one.submit("/portal/links", {}, "/portal/sign-out");
    for (const stream of streams) {
      expect(await stream.next("signed-out")).toBeDefined();
      expect(await stream.next("anything")).toBeUndefined();
    }

    const free = await people.person();
    const own = await people.shorten(free, "https://example.com/");
    expect(await liveAddress(free, own)).toBe("");
    expect((await watch(free, `${own}/live`)).status).toBe(402);
    expect((await watch(free, `${path}/live`)).status).toBe(404);
  });
});
