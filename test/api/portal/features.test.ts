// What needs the Developer plan needs it in the API and in the portal alike, and what doesn't is free in both.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const url = "https://example.com/";
const DEVELOPER = 402;

let service: TestService;
let one: Person;
let key: string;
let slug: string;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32", RATE_LIMIT_FREE: "1000" });
  const people = portalPeople(service);
  one = await people.person();
  ({ key } = await service.issueKey(one.accountId));
  const path = await people.shorten(one, url, { tags: "old" });
  slug = path.split("/").at(-1) ?? "";
  await until("the tag", async () => (await one.get("/portal/tags")).text.includes("Edit the tag old"));
}, 60_000);
afterAll(() => service.stop());

type Asked = [method: string, path: string, body?: Record<string, unknown>];
type Feature = { name: string; api: Asked; portal: ["GET" | "POST", string, Record<string, string>?] };

const field = (name: string, value: unknown, typed: string): Feature => ({
  name: `links with ${name}`,
  api: ["POST", "/shorten", { url, [name]: value }],
  portal: ["POST", "/links", { url, [name]: typed }],
});
const changed = (name: string, value: unknown, typed: string): Feature => ({
  name: `changes of ${name}`,
  api: ["PATCH", "/links/SLUG", { [name]: value }],
  portal: ["POST", "/links/localhost/SLUG/edit", { url, revision: "0", [name]: typed }],
});
const rule = { when: { os: ["iOS"] }, url };

const DEVELOPERS: Feature[] = [
  field("active_from", "2026-12-01T00:00:00Z", "2026-12-01T00:00"),
  field("expires_at", "2999-12-01T00:00:00Z", "2999-12-01T00:00"),
  field("max_clicks", 5, "5"),
  field("password", "open sesame", "open sesame"),
  changed("expired_url", "https://example.com/over", "https://example.com/over"),
  {
    name: "rules",
    api: ["POST", "/shorten", { url, rules: [rule] }],
    portal: ["POST", "/links", { url, "rules.0.when.os": "iOS", "rules.0.url": url }],
  },
  {
    name: "slugs of one's own",
    api: ["POST", "/shorten", { url, customSlug: "my-own" }],
    portal: ["POST", "/links", { url, slug: "my-own" }],
  },
  {
    name: "many links at once",
    api: ["POST", "/shorten/bulk", { links: [{ url }] }],
    portal: ["POST", "/links/many", { act: "create", list: url }],
  },
  {
    name: "exports of clicks",
    api: ["GET", "/clicks/export"],
    portal: ["GET", "/analytics/clicks.csv?link=localhost/SLUG"],
  },
  {
    name: "shared pages",
    api: ["POST", "/shared-pages", { name: "Sale" }],
    portal: ["POST", "/shared", { name: "Sale" }],
  },
  {
    name: "why numbers changed",
    api: ["GET", "/changes?since=2026-01-01T00:00:00Z"],
    portal: ["GET", "/analytics/why"],
  },
];

const FREE: Feature[] = [
  field("title", "T", "T"),
  field("tags", ["a"], "a"),
  field("redirect_code", 302, "302"),
  field("forward_query", true, "destination"),
  changed("comments", "c", "c"),
  { name: "the list of links", api: ["GET", "/links?q=example"], portal: ["GET", "/links?q=example"] },
  {
    name: "the numbers of a link",
    api: ["GET", "/analytics/SLUG"],
    portal: ["GET", "/analytics?link=localhost/SLUG"],
  },
  { name: "tags", api: ["GET", "/tags"], portal: ["GET", "/tags"] },
  {
    name: "colours of tags",
    api: ["PATCH", "/tags/old", { colour: "red" }],
    portal: ["POST", "/tags", { tag: "old", name: "old", colour: "red" }],
  },
  {
    name: "new names of tags",
    api: ["PATCH", "/tags/new", { name: "newer" }],
    portal: ["POST", "/tags", { tag: "old", name: "new" }],
  },
];

const placed = (path: string) => path.replace("SLUG", slug);

async function statuses({ api, portal }: Feature): Promise<[api: number, portal: number]> {
  const [how, page, typed] = portal;
  const at = `/portal${placed(page)}`;
  const shown = how === "GET" ? await one.get(at) : await one.post(at, typed);
  const [method, path, body] = api;
  const answer = await service.ask(`/api/v1${placed(path)}`, { method, key, body });
  return [answer.status, shown.status];
}

it.each(DEVELOPERS)("$name: with the Developer plan alone, in both", async (feature) => {
  expect(await statuses(feature)).toEqual([DEVELOPER, DEVELOPER]);
});

it.each(FREE)("$name: free in both", async (feature) => {
  const [api, portal] = await statuses(feature);
  expect([api < 300, portal < 400]).toEqual([true, true]);
});
