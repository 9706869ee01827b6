// One visit has one number, whoever asks: API, portal, commands, explanation and export count the same hits, in the same words.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
const VISITS: {
  kind: "click" | "qr_scan" | "preview";
  times: number;
  path?: string;
  method?: string;
  headers: Record<string, string>;
}[] = [
  { kind: "click", times: 5, headers: { "user-agent": FIREFOX } },
  { kind: "click", times: 2, headers: { "user-agent": IPHONE, referer: "https://news.example/" } },
  { kind: "click", times: 1, path: "?utm_source=mail&qr=0", headers: { "user-agent": FIREFOX } },
  { kind: "qr_scan", times: 4, path: "?qr=1", headers: { "user-agent": IPHONE } },
  { kind: "preview", times: 3, headers: { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" } },
  { kind: "preview", times: 2, headers: { "user-agent": "Slackbot-LinkExpanding 1.0" } },
  { kind: "preview", times: 2, method: "HEAD", headers: { "user-agent": FIREFOX } },
  { kind: "preview", times: 1, method: "HEAD", path: "?qr=1", headers: { "user-agent": IPHONE } },
  { kind: "preview", times: 1, headers: { "user-agent": FIREFOX, purpose: "prefetch" } },
  { kind: "preview", times: 1, headers: { "user-agent": "curl/8.5.0" } },
];
const sum = (kind: string) => VISITS.reduce((all, visit) => all + (visit.kind === kind ? visit.times : 0), 0);
const HITS = { click: sum("click"), qr_scan: sum("qr_scan"), preview: sum("preview") };
const PEOPLE = HITS.click + HITS.qr_scan;
const TOTAL = PEOPLE + HITS.preview;

let service: TestService;
let owner: Person;
let path: string;
let slug: string;
let key: string;

beforeAll(async () => {
  service = await startTestService();
  const people = portalPeople(service);
  owner = await people.developer();
  key = (await service.issueKey(owner.accountId)).key;
  path = await people.shorten(owner, "https://example.com/counted");
  slug = path.split("/").at(-1) ?? "";
  for (const { times, path: query = "", ...visit } of VISITS)
    for (let n = 0; n < times; n++) await service.ask(`/${slug}${query}`, visit);
  const counted = async () => (await analytics("")).totalClicks === TOTAL;
  await until("every hit to be counted", counted, { everyMs: 200 });
}, 60_000);
afterAll(() => service.stop());

async function analytics(query: string) {
  const { body } = await service.ask<{ analytics: Record<string, unknown> }>(
    `/api/v1/analytics/${slug}${query}`,
    { key },
  );
  return body.analytics;
}

it("in the API, of its whole life and of a range", async () => {
  for (const query of ["", "/range?from=2020-01-01", "/range?interval=hour&timezone=Asia/Kolkata"])
    expect(await analytics(query)).toMatchObject({
      totalClicks: TOTAL,
      actualClicks: HITS.click,
      ...{ qrScans: HITS.qr_scan, previews: HITS.preview, eventTypes: HITS },
    });
});

it("on the pages of the portal", async () => {
  const list = (await owner.get("/portal/links")).text;
  expect(list).toContain(`aria-label="${PEOPLE} clicks, view analytics"`);
  expect(list).toContain(`${PEOPLE} clicks in the last 14 days`);
  const stat = (text: string, metric: string) =>
    Number(text.split(`data-total="${metric}">`)[1]?.split("<")[0]);
  for (const page of [`/portal/analytics?link=localhost/${slug}`, "/portal/analytics", "/portal"]) {
    const { text } = await owner.get(page);
    const shown = ["people", "qr_scan", "preview"].map((metric) => stat(text, metric));
    expect([page, shown]).toEqual([page, [PEOPLE, HITS.qr_scan, HITS.preview]]);
  }
  const explained = decoded((await owner.get(`${path}/explain`)).text);
  expect(explained).toContain(`${PEOPLE}, ${HITS.qr_scan} of them QR scans`);
  expect(explained).toMatch(new RegExp(`Previews</dt><dd>${HITS.preview}<`));
  expect(explained).toMatch(new RegExp(`In all</dt><dd>${TOTAL}<`));
});

it("by commands: the list, the explanation that counts the log again, and the export", async () => {
  const cli = commandLine(service.config.dataDir);
  const counts = { ...HITS, total: TOTAL };
  const { links, total } = await cli.json("link", "list", "--account", owner.accountId);
  expect([total, links]).toEqual([1, [expect.objectContaining({ ...counts, status: "live" })]]);
  const explained = await cli.json("explain", slug, "--verify");
  expect(explained).toMatchObject({ clicks: { ...counts, recounted: true }, status: "live", problems: [] });
  const file = join(service.config.dataDir, "hits.ndjson");
  await cli.json("export", "clicks", "--account", owner.accountId, "--out", file);
  const types = (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).type);
  expect(
    Object.fromEntries(Object.entries(Object.groupBy(types, String)).map(([type, of]) => [type, of?.length])),
  ).toEqual(HITS);
}, 60_000);
