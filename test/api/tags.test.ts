// Tags of an account: listed, renamed, merged and coloured, by the API and in the portal.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blockLink } from "../../src/commands/links/block-link.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { StoreUnavailable } from "../../src/stores/connections/errors.ts";
import { decoded, FIREFOX } from "../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../support/portal/portal-people.ts";
import { until } from "../support/runtime/until.ts";
import { onCluster, startTestService, type TestService } from "../support/service/start-service.ts";

type Tags = { tags: { tag: string; colour: string | null; links: number; clicks?: number }[]; total: number };
type Changed = {
  tag: string;
  colour: string | null;
  changed: number;
  failed: number;
  errors: { link: string; code: string }[];
  next_cursor: string | null;
  error?: string;
  code?: string;
};

let service: TestService;
let people: ReturnType<typeof portalPeople>;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32", RATE_LIMIT_DEVELOPER: "100000" });
  people = portalPeople(service);
});
afterAll(() => service.stop());

const url = "https://example.com/tagged";
const make = async (key: string, ...lists: string[][]) => {
  const { body } = await service.post<{ results: { slug: string }[] }>("/api/v1/shorten/bulk", key, {
    links: lists.map((tags) => ({ url, tags })),
  });
  return body.results.map(({ slug }) => slug);
};
const list = async (key: string, query = "") =>
  (await service.ask<Tags>(`/api/v1/tags${query}`, { key })).body;
const change = (key: string, tag: string, body: object, query = "") =>
  service.ask<Changed>(`/api/v1/tags/${encodeURIComponent(tag)}${query}`, { method: "PATCH", key, body });
const tagsOf = async (key: string, slug: string) =>
  (await service.ask<{ tags?: string[] }>(`/api/v1/links/${slug}`, { key })).body.tags;

describe("the tags of an account", { timeout: 60_000 }, () => {
  it("are listed with their links and the clicks of people, most links first, and searched", async () => {
    const { key } = await service.member("developer");
    const [first = "", second = "", gone = ""] = await make(key, ["spring", "Café"], ["spring"], ["old"]);
    await service.ask(`/api/v1/links/${gone}`, { method: "DELETE", key });
    for (const slug of [first, first, second])
      await service.ask(`/${slug}`, { headers: { "user-agent": FIREFOX } });
    await service.ask(`/${first}`, { headers: { "user-agent": "Googlebot/2.1" } });
    await until("three clicks", async () => (await list(key)).tags[0]?.clicks === 3);
    expect(await list(key)).toEqual({
      tags: [
        { tag: "spring", colour: null, links: 2, clicks: 3 },
        { tag: "Café", colour: null, links: 1, clicks: 2 },
      ],
      total: 2,
    });
    expect((await list(key, "?q=CAFE")).tags.map(({ tag }) => tag)).toEqual(["Café"]);
    expect(await list(key, "?limit=1")).toMatchObject({ tags: [{ tag: "spring" }], total: 2 });
    expect(await list((await service.member("free")).key)).toEqual({ tags: [], total: 0 });
    for (const query of ["limit=0", "limit=1001", "limit=x"])
      expect([query, (await service.ask(`/api/v1/tags?${query}`, { key })).status]).toEqual([query, 400]);
  });

  it("are renamed on every link, each as a change in its history, and merged only where that is said", async () => {
    const member = await service.member("developer");
    const { key } = member;
    const [first = "", second = "", third = ""] = await make(key, ["a/b", "x"], ["x", "a/b"], ["new"]);
    expect((await change(key, "a/b", { colour: "green" })).body).toMatchObject({
      colour: "green",
      changed: 0,
    });
    const refused = await change(key, "a/b", { name: "new" });
    expect([refused.status, refused.body.code]).toEqual([409, "tag_taken"]);
    expect(refused.body.error).toContain("1 of your links have the tag new already");
    expect((await change(key, "a/b", { name: " b c " })).body).toEqual({
      ...{ tag: "b c", colour: "green", changed: 2, failed: 0, errors: [], next_cursor: null },
    });
    expect([await tagsOf(key, first), await tagsOf(key, second)]).toEqual([
      ["b c", "x"],
      ["x", "b c"],
    ]);
    expect((await change(key, "b c", { name: "new", merge: true })).body).toMatchObject({
      ...{ tag: "new", colour: "green", changed: 2 },
    });
    expect((await list(key)).tags).toMatchObject([
      { tag: "new", colour: "green", links: 3 },
      { tag: "x", links: 2 },
    ]);
    expect(await tagsOf(key, third)).toEqual(["new"]);
    const history = await service.ask<{ history: { type: string }[] }>(`/api/v1/links/${first}/history`, {
      key,
    });
    expect(history.text.match(/LinkOptionsChanged|link\.updated|changed/g)?.length).toBeGreaterThan(1);
    expect((await change(key, "new", { colour: null })).body.colour).toBeNull();
  });

  it("refuse what is no name, no colour, no tag, and another account's", async () => {
    const member = await service.member("developer");
    const free = await service.member("free");
    await make(member.key, ["mine"]);
    await service.post("/api/v1/shorten", free.key, { url, tags: ["theirs"] });
    const cases: [string, string, object, number, string][] = [
      [member.key, "theirs", { colour: "red" }, 404, "No link has the tag theirs"],
      [member.key, "mine", { name: "" }, 400, "A tag must have 1 to 50 characters"],
      [member.key, "mine", { name: "a".repeat(51) }, 400, "A tag must have 1 to 50 characters"],
      [member.key, "mine", { colour: "plaid" }, 400, "colour"],
      [member.key, "mine", { title: "x" }, 400, "title"],
    ];
    for (const [key, tag, body, status, why] of cases) {
      const answer = await change(key, tag, body);
      expect([body, answer.status, answer.body.error]).toEqual([body, status, expect.stringContaining(why)]);
    }
    expect((await change(free.key, "theirs", { colour: "red" })).body.colour).toBe("red");
    expect((await change(member.key, "mine", { name: "x" }, "?cursor=none")).body.code).toBe(
      "invalid_cursor",
    );
    const emoji = "😀".repeat(25);
    await make(member.key, [emoji]);
    expect((await change(member.key, emoji, { name: "smile" })).body.changed).toBe(1);
  });

  it("are renamed on the Free plan a link a request, as each is a change there, and once by Idempotency-Key", async () => {
    const { key } = await service.member("free");
    for (let n = 0; n < 2; n += 1) await service.post("/api/v1/shorten", key, { url, tags: ["old"] });
    const send = (query = "") =>
      service.ask<Changed>(`/api/v1/tags/old${query}`, {
        ...{ method: "PATCH", key, body: { name: "new" } },
        headers: { "idempotency-key": "rename-1" },
      });
    const first = await send();
    expect(first.body).toMatchObject({ changed: 1, next_cursor: expect.any(String) });
    const again = await send();
    expect([again.text, again.headers["idempotency-replayed"]]).toEqual([first.text, "true"]);
    const rest = await send(`?cursor=${first.body.next_cursor}`);
    expect(rest.body).toMatchObject({ changed: 1, next_cursor: null });
    expect((await list(key)).tags).toMatchObject([{ tag: "new", links: 2 }]);
  });

  it.skipIf(onCluster())(
    "are renamed once by Idempotency-Key, also where the answer was lost midway or at the end",
    async () => {
      const { key } = await service.member("developer");
      await make(key, ["a", "x"], ["a"], ["a"], ["b"]);
      const { secrets, eventStore } = service.backend;
      const send = (from: string, name: string) =>
        service.ask<Changed>(`/api/v1/tags/${from}`, {
          ...{ method: "PATCH", key, body: { name, colour: "green" } },
          headers: { "idempotency-key": `rename ${from} ${name}` },
        });
      const [append, put] = [eventStore.append.bind(eventStore), secrets.put.bind(secrets)];
      let appends = 0;
      eventStore.append = async (...events) => {
        if (++appends > 1) throw new StoreUnavailable("the process is gone");
        return await append(...events);
      };
      expect((await send("a", "c")).status).toBe(503);
      eventStore.append = append;
      secrets.put = async () => {
        throw new Error("the process is gone");
      };
      expect((await send("a", "c")).status).toBe(500);
      secrets.put = put;
      const first = await send("a", "c");
      const done = { tag: "c", colour: "green", changed: 3, failed: 0, errors: [], next_cursor: null };
      expect([first.status, first.body]).toEqual([200, done]);
      expect((await send("a", "c")).text).toBe(first.text);
      expect((await list(key)).tags.map(({ tag, links }) => [tag, links])).toEqual([
        ["c", 3],
        ["b", 1],
        ["x", 1],
      ]);
      const twice = await Promise.all(Array.from({ length: 10 }, () => send("c", "d")));
      expect(new Set(twice.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(twice[0]?.body).toMatchObject({ tag: "d", changed: 3 });
    },
  );

  it("of more than a thousand links are renamed a part at a time, and what fails is named", async () => {
    const { key } = await service.member("developer");
    for (let part = 0; part < 10; part += 1) await make(key, ...Array.from({ length: 100 }, () => ["many"]));
    const [last = ""] = await make(key, ["many"]);
    const [blocked = ""] = await make(key, ["many"]);
    const { eventStore } = service.backend;
    const address = { host: "localhost", slug: blocked };
    const operator = { requestId: "test", actor: { type: "operator" } } as const;
    await blockLink({ eventStore, ...runtimeDeps }, operator, address, { reason: "Phishing", legal: false });
    const [full = ""] = await make(key, ["many", ..."abcdefghi"]);
    const part = (await change(key, "many", { name: "few" })).body;
    expect(part).toMatchObject({
      ...{ changed: 999, failed: 1, next_cursor: expect.any(String) },
      errors: [{ link: `localhost/${blocked}`, code: "blocked_by_operator" }],
    });
    const rest = (await change(key, "many", { name: "few" }, `?cursor=${part.next_cursor}`)).body;
    expect(rest).toMatchObject({ changed: 3, failed: 0, next_cursor: null });
    expect((await list(key, "?q=few")).tags).toMatchObject([{ tag: "few", links: 1_002 }]);
    expect((await list(key, "?q=many")).tags).toMatchObject([{ tag: "many", links: 1 }]);
    expect(await tagsOf(key, blocked)).toEqual(["many"]);
    expect(await tagsOf(key, last)).toEqual(["few"]);
    expect(await tagsOf(key, full)).toEqual(["few", ..."abcdefghi"]);
  });
});

describe("the page of tags", { timeout: 60_000 }, () => {
  const save = async (one: Person, fields: Record<string, string>) => {
    const answer = await one.follow(await one.post("/portal/tags", fields));
    return { status: answer.status, text: decoded(answer.text) };
  };
  const rows = async (one: Person) =>
    [...(await one.get("/portal/tags")).text.matchAll(/<tr><td>([\s\S]*?)<\/tr>/g)].map(([, row = ""]) =>
      decoded(row.replace(/<details[\s\S]*/, "").replace(/<[^>]*>/g, " "))
        .trim()
        .split(/\s+/),
    );

  it("renames, colours, and asks before two tags become one", async () => {
    const one = await people.person();
    expect((await one.get("/portal/tags")).text).toContain("No tags yet");
    const first = await people.shorten(one, "https://example.com/1", { tags: "spring, mail" });
    await people.shorten(one, "https://example.com/2", { tags: "mail" });
    expect(await rows(one)).toEqual([
      ["mail", "2", "0"],
      ["spring", "1", "0"],
    ]);
    const coloured = await save(one, { tag: "spring", name: "spring", colour: "green" });
    expect(coloured.text).toContain("The colour of spring is saved.");
    expect((await one.get("/portal/links")).text).toMatch(
      /<svg class="dot"[^>]*>.*?<\/svg><span class="clip">spring</,
    );
    const renamed = await save(one, { tag: "spring", name: "summer", colour: "green" });
    expect(renamed.text).toContain("1 link with the tag summer.");
    expect((await one.get("/portal/links?tag=summer")).text).toContain(`href="${first}"`);
    const asked = await save(one, { tag: "summer", name: "mail", colour: "green" });
    expect([asked.status, asked.text.includes("Merge summer into mail?")]).toEqual([409, true]);
    expect((await rows(one)).length).toBe(2);
    await save(one, { tag: "summer", name: "mail", colour: "green", merge: "1" });
    expect(await rows(one)).toEqual([["mail", "2", "0"]]);
    expect(JSON.parse((await one.get("/portal/tags/names")).text)).toEqual(["mail"]);
    const wrong = await save(one, { tag: "mail", name: " ", colour: "" });
    expect([wrong.status, wrong.text.includes("A tag must have 1 to 50 characters")]).toEqual([400, true]);
    const none = await save(one, { tag: "none", name: "x", colour: "" });
    expect(none.status).toBe(404);
  });

  it("counts a change of the hour for each link on the Free plan, and says which it left", async () => {
    const one = await people.person();
    for (let n = 0; n < 3; n += 1) await people.shorten(one, `https://example.com/${n}`, { tags: "a" });
    for (let n = 3; n < 48; n += 1) await one.post("/portal/plan/withdraw", {});
    const { text } = await save(one, { tag: "a", name: "b", colour: "" });
    expect(text).toContain("2 links with the tag b.");
    expect(text).toContain("You have made 50 changes within an hour");
    expect(await rows(one)).toEqual([
      ["b", "2", "0"],
      ["a", "1", "0"],
    ]);
  });
});
