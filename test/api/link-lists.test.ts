// What links carry, in creation and lists: fields, filters, external ids of one link alone, and find_existing.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/runtime/until.ts";
import {
  type Member,
  onCluster,
  startTestService,
  type TestService,
} from "../support/service/start-service.ts";

const url = "https://example.com/carried";
type Link = { slug: string; short_url: string; error?: string; code?: string } & Record<string, unknown>;
type Page = { links: Link[]; total: number; next_cursor: string | null };

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const shorten = ({ key }: Pick<Member, "key">, more: object = {}, headers = {}) =>
  service.post<Link>("/api/v1/shorten", key, { url, ...more }, { headers });
const change = ({ key }: Member, slug: string, body: object, headers = {}) =>
  service.ask<Link>(`/api/v1/links/${slug}`, { method: "PATCH", key, body, headers });
const act = ({ key }: Member, method: string, below: string) =>
  service.ask<Link>(`/api/v1/links/${below}`, { method, key });
const list = async ({ key }: Pick<Member, "key">, query = "") => {
  const { status, body } = await service.ask<Page & Link>(`/api/v1/links${query}`, { key });
  expect([status, body.error]).toEqual([200, undefined]);
  return body;
};
const slugs = async (by: Pick<Member, "key">, query: string) =>
  (await list(by, query)).links.map(({ slug }) => slug);

const ALL = {
  title: "Spring sale",
  comments: "for\nsales",
  tags: ["spring", "news letter"],
  external_id: "order-1",
  active_from: "2020-01-01T00:00:00.000Z",
  expires_at: "2090-01-01T00:00:00.000Z",
  expired_url: "https://example.com/over",
  max_clicks: 1000,
  redirect_code: 307,
  forward_query: true,
  rules: [{ when: { os: ["iOS"] }, url: "https://example.com/app" }],
};

describe("a link", () => {
  it("carries what it is given, alone and in bulk, and nothing that was not", async () => {
    const member = await service.member("developer");
    const one = await shorten(member, { ...ALL, password: "seven secrets" });
    const rules = ALL.rules.map((rule) => ({ id: expect.any(String), ...rule }));
    const shown = expect.objectContaining({ ...ALL, rules, has_password: true });
    expect([one.status, one.body]).toEqual([201, shown]);
    expect(one.text).not.toContain("secret");
    const { body } = await service.post<{ results: Link[] }>("/api/v1/shorten/bulk", member.key, {
      links: [{ url, ...ALL, external_id: "order-2" }, { url }],
    });
    expect(body.results[0]).toMatchObject({ ...ALL, external_id: "order-2" });
    expect(Object.keys(body.results[1] ?? {})).toEqual([
      "index",
      "short_url",
      "slug",
      "long_url",
      "created_at",
    ]);
    expect((await list(member)).links[2]).toMatchObject({ ...one.body, status: "live" });
  });

  it("is refused with the name of the field that is wrong, as an item of a bulk request, too", async () => {
    const member = await service.member("developer");
    const bad: [object, string][] = [
      [{ title: 7 }, "title"],
      [{ tags: ["", "x"] }, "tags.0"],
      [{ expires_at: "soon" }, "expires_at"],
      [{ rules: [{ when: { share: 0 }, url }] }, "rules.0.when.share"],
      [{ expired_url: "javascript:1" }, "expired_url"],
      [{ find_existing: "yes" }, "find_existing"],
    ];
    const bulk = await service.post<{ errors: { error: string }[] }>("/api/v1/shorten/bulk", member.key, {
      links: bad.map(([fields]) => ({ url, ...fields })),
    });
    for (const [n, [fields, name]] of bad.entries()) {
      const { status, body } = await shorten(member, fields);
      expect([status, body.error]).toEqual([400, expect.stringContaining(name)]);
      expect(bulk.body.errors[n]?.error).toContain(name);
    }
  });

  it("needs the Developer tier for times, limits, passwords and rules", async () => {
    const member = await service.member("free");
    for (const name of ["active_from", "expires_at", "expired_url", "max_clicks", "rules"] as const)
      expect([name, (await shorten(member, { [name]: ALL[name] })).status]).toEqual([name, 402]);
    expect((await shorten(member, { password: "seven secrets" })).status).toBe(402);
    const { title, comments, tags, external_id, redirect_code, forward_query } = ALL;
    const fields = { title, comments, tags, external_id, redirect_code, forward_query };
    expect((await shorten(member, { ...fields, find_existing: true })).body).toMatchObject(fields);
  });
});

describe("GET /api/v1/links", () => {
  it("finds words in any case and script, in tags, external ids and comments too", async () => {
    const member = await service.member("free");
    const first = (await shorten(member, { title: "CAFÉ Straße", tags: ["Frühling"], comments: "für Ада" }))
      .body.slug;
    const second = (await shorten(member, { title: "Cafe", external_id: "Bestellung-7" })).body.slug;
    const found = (q: string) => slugs(member, `?q=${encodeURIComponent(q)}`);
    expect(await found("café")).toEqual([second, first]);
    expect(await found("FRUHLING strasse")).toEqual([first]);
    expect(await found("АДА café carried")).toEqual([first]);
    expect(await found("bestellung-7")).toEqual([second]);
    expect(await found("cafe nothing")).toEqual([]);
    expect(await found(" ")).toEqual([second, first]);
  });

  it("has the links of a bulk request in its order", async () => {
    const member = await service.member("developer");
    const links = Array.from({ length: 100 }, (_, n) => ({ url: `${url}/${n}` }));
    await service.post("/api/v1/shorten/bulk", member.key, { links });
    const { links: listed } = await list(member, "?limit=100&sort=created_at");
    expect(listed.map(({ long_url }) => long_url)).toEqual(links.map((item) => item.url));
    expect((await list(member, "?limit=1")).links[0]?.long_url).toBe(`${url}/99`);
  });

  it("filters by tag, external id, title and status, in both orders", async () => {
    const member = await service.member("developer");
    const made: string[] = [];
    for (const more of [
      { tags: ["a", "b"], title: "Apples" },
      { tags: ['say "a"', ","], external_id: "x-1" },
      { tags: ["ab"] },
      { tags: ["a"] },
    ])
      made.push((await shorten(member, more)).body.slug);
    const [first = "", second = "", third = "", fourth = ""] = made;
    expect(await slugs(member, "?tag=a")).toEqual([fourth, first]);
    expect(await slugs(member, "?tag=a&sort=created_at")).toEqual([first, fourth]);
    expect(await slugs(member, "?tag=A")).toEqual([]);
    expect(await slugs(member, `?tag=${encodeURIComponent('say "a"')}`)).toEqual([second]);
    expect(await slugs(member, "?tag=,")).toEqual([second]);
    expect(await slugs(member, "?external_id=x-1")).toEqual([second]);
    expect(await slugs(member, "?q=APPLE")).toEqual([first]);
    await change(member, first, { disabled: true });
    await act(member, "DELETE", third);
    expect(await slugs(member, "?status=live")).toEqual([fourth, second]);
    expect(await slugs(member, "?status=disabled")).toEqual([first]);
    expect(await slugs(member, "?status=deleted&tag=ab")).toEqual([third]);
    expect(await slugs(member, "")).toEqual([fourth, second, first]);
    const page = await list(member, "?tag=a&limit=1");
    expect(page.total).toBe(2);
    expect(await slugs(member, `?tag=a&limit=1&cursor=${page.next_cursor}`)).toEqual([first]);
    const oldest = await list(member, "?sort=created_at&limit=2");
    expect(await slugs(member, `?sort=created_at&limit=2&cursor=${oldest.next_cursor}`)).toEqual([fourth]);
    for (const query of ["status=gone", "sort=clicks", "scope=all", `tag=${"a".repeat(51)}`])
      expect([query, (await service.ask(`/api/v1/links?${query}`, { key: member.key })).status]).toEqual([
        query,
        400,
      ]);
  });

  it("lists with scope=account the links of all keys and of the portal, with their state", async () => {
    const member = await service.member("free");
    const other = await service.issueKey(member.accountId);
    const { body } = await shorten(member, { tags: ["t"] });
    await shorten(other, { tags: ["t"] });
    await change(member, body.slug, { disabled: true });
    expect((await list(other)).total).toBe(1);
    const all = await list(other, "?scope=account&tag=t");
    expect(all.total).toBe(2);
    const read = await service.ask<Link>(`/api/v1/links/${body.slug}`, { key: member.key });
    expect(all.links[1]).toEqual(read.body);
    expect((await list(await service.member("free"), "?scope=account")).total).toBe(0);
  });

  it("filters by who made them and by the host of the service, beside any other filter", async () => {
    const member = await service.member("developer");
    const other = await service.issueKey(member.accountId);
    const domain_id = await service.domain(member.accountId, "made.example.org");
    const own = (await shorten(member, { tags: ["t"], domain_id })).body.slug;
    const theirs = (await shorten(other, { tags: ["t"] })).body.slug;
    const by = async (query: string) => (await slugs(member, `?${query}`)).sort();
    expect(await by("scope=account&made_by=api")).toEqual([own, theirs].sort());
    expect(await by(`scope=account&made_by=${other.keyId}`)).toEqual([theirs]);
    expect(await by(`scope=account&made_by=${other.keyId}&status=live&tag=t`)).toEqual([theirs]);
    expect(await by(`made_by=${other.keyId}`)).toEqual([]);
    expect(await by("scope=account&made_by=portal")).toEqual([]);
    expect(await by("scope=account&domain_id=default")).toEqual([theirs]);
    expect(await by(`scope=account&domain_id=${domain_id}&made_by=api`)).toEqual([own]);
    const wrong = await service.ask<Link>("/api/v1/links?made_by=me", { key: member.key });
    expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringContaining("made_by")]);
  });
});

describe("the end of a link", () => {
  const past = "2020-01-01T00:00:00Z";

  it("is not set to a time that is over: alone, in bulk and in a change, which leaves one as it was", async () => {
    const member = await service.member("developer");
    const wrong = await shorten(member, { expires_at: past });
    expect([wrong.status, wrong.body.error]).toEqual([
      400,
      expect.stringContaining("expires_at must be in the future"),
    ]);
    const { slug } = (await shorten(member)).body;
    expect((await change(member, slug, { expires_at: past })).status).toBe(400);
    const items = [{ url, expires_at: past }, { url }];
    const bulk = await service.post<{ created: number }>("/api/v1/shorten/bulk", member.key, {
      links: items,
    });
    expect(bulk.body).toMatchObject({ created: 1, failed: 1 });
    const patches = { links: [{ slug, expires_at: past }] };
    const changed = await service.ask("/api/v1/links/bulk", {
      method: "PATCH",
      key: member.key,
      body: patches,
    });
    expect(changed.body).toMatchObject({ updated: 0, failed: 1 });
    const soon = new Date(Date.now() + 500).toISOString();
    expect((await change(member, slug, { expires_at: soon })).body.status).toBe("live");
    const read = () => service.ask<Link>(`/api/v1/links/${slug}`, { key: member.key });
    await until("its end", async () => (await read()).body.status === "expired");
    const kept = await change(member, slug, { expires_at: soon, title: "still" });
    expect(kept.body).toMatchObject({ title: "still", status: "expired", expires_at: soon });
  });
});

describe("the status of a link", () => {
  it("is what a visitor meets, read alone, listed, filtered by, and in its tag", async () => {
    const member = await service.member("developer");
    const domain_id = await service.domain(member.accountId, "status.example.org");
    const future = "2090-01-01T00:00:00Z";
    const used = (await shorten(member, { max_clicks: 1 })).body.slug;
    const off = (await shorten(member)).body.slug;
    const gone = (await shorten(member)).body.slug;
    const made: Record<string, string> = {
      live: (await shorten(member, { max_clicks: 2, expires_at: future })).body.slug,
      scheduled: (await shorten(member, { active_from: future })).body.slug,
      domain_inactive: (await shorten(member, { domain_id })).body.slug,
      ...{ used_up: used, disabled: off, deleted: gone },
    };
    await change(member, off, { disabled: true });
    await act(member, "DELETE", gone);
    await service.removeDomain(member.accountId, "status.example.org");
    const read = (slug: string, headers = {}) =>
      service.ask<Link>(`/api/v1/links/${slug}`, { key: member.key, headers });
    const before = await read(used);
    expect(before.headers.etag).toBe('"0-live"');
    const browser = {
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    };
    await service.ask(`/${used}`, { headers: browser });
    await until("its only click", async () => (await read(used)).body.status === "used_up");
    const known = { "if-none-match": '"0-live"' };
    expect((await read(used, known)).status).toBe(200);
    // Its revision grows when it is noted that its limit was reached, which may be now.
    const tag = async () => (await read(used)).headers.etag ?? "";
    expect(await tag()).toMatch(/^"\d-used_up"$/);
    await until("its tag", async () => (await read(used, { "if-none-match": await tag() })).status === 304);
    const retitled = async () =>
      (await change(member, used, { title: "t" }, { "if-match": await tag() })).status;
    await until("its title", async () => (await retitled()) === 200);
    for (const [status, slug] of Object.entries(made)) {
      for (const scope of ["key", "account"])
        expect([status, await slugs(member, `?scope=${scope}&status=${status}`)]).toEqual([status, [slug]]);
      if (status !== "deleted") expect((await read(slug)).body.status).toBe(status);
    }
    const all = await list(member);
    expect(all.links.map(({ status }) => status).sort()).toEqual(
      Object.keys(made)
        .filter((status) => status !== "deleted")
        .sort(),
    );
  });
});

describe("an external id", () => {
  it("is that of one link of the account: 409 names the short URL that has it", async () => {
    const member = await service.member("developer");
    const first = await shorten(member, { external_id: "one" });
    const again = await shorten(member, { external_id: "one" });
    expect([again.status, again.body.code]).toEqual([409, "external_id_taken"]);
    expect(again.body.error).toContain(first.body.short_url);
    const other = await shorten(member, { external_id: "two" });
    expect((await change(member, other.body.slug, { external_id: "one" })).status).toBe(409);
    expect((await change(member, other.body.slug, { external_id: "two", title: "x" })).status).toBe(200);
    expect((await shorten(await service.member("free"), { external_id: "one" })).status).toBe(201);
  });

  it("is free again when its link gives it up or is deleted, which then is not restored with it", async () => {
    const member = await service.member("developer");
    const first = (await shorten(member, { external_id: "one" })).body.slug;
    await change(member, first, { external_id: null });
    const second = await shorten(member, { external_id: "one" });
    expect(second.status).toBe(201);
    await act(member, "DELETE", second.body.slug);
    expect((await change(member, first, { external_id: "one" })).status).toBe(200);
    const back = await act(member, "POST", `${second.body.slug}/restore`);
    expect([back.status, back.body.code]).toEqual([409, "external_id_taken"]);
    await change(member, first, { external_id: null });
    expect((await act(member, "POST", `${second.body.slug}/restore`)).body.external_id).toBe("one");
  });

  it("that another link has got is no dead end: its link is restored with another, or with none", async () => {
    const member = await service.member("developer");
    const first = (await shorten(member, { external_id: "one", title: "First" })).body.slug;
    await act(member, "DELETE", first);
    await shorten(member, { external_id: "one" });
    const restore = (body: object) =>
      service.ask<Link>(`/api/v1/links/${first}/restore`, { method: "POST", key: member.key, body });
    for (const wrong of [{ external_id: "one" }, { title: "x" }, {}])
      expect([(await restore(wrong)).status, wrong]).toEqual([409, wrong]);
    expect((await restore({ unknown: 1 })).status).toBe(400);
    const back = await restore({ external_id: "two", disabled: true });
    expect(back.body).toMatchObject({ external_id: "two", title: "First", status: "disabled", revision: 4 });
    expect((await restore({ external_id: "two", disabled: true })).body).toEqual(back.body);
    await act(member, "DELETE", first);
    expect((await restore({ external_id: null })).body).not.toHaveProperty("external_id");
    expect((await list(member, "?scope=account&external_id=two")).total).toBe(0);
  });

  it("is given to one of ten that ask at once, for new and for existing links, alone and in bulk", async () => {
    const member = await service.member("developer");
    const items = Array.from({ length: 4 }, () => ({ url, external_id: "raced" }));
    const old = (await shorten(member)).body.slug;
    const [bulk, ...single] = await Promise.all([
      service.post<{ created: number; errors: { code: string }[] }>("/api/v1/shorten/bulk", member.key, {
        links: items,
      }),
      ...Array.from({ length: 5 }, () => shorten(member, { external_id: "raced" })),
      change(member, old, { external_id: "raced" }),
    ]);
    const given = single.filter(({ status }) => status < 300).length + (bulk?.body.created ?? 0);
    expect(given).toBe(1);
    const codes = single.flatMap(({ status, body }) => (status < 300 ? [] : [[status, body.code]]));
    for (const [status, code] of codes) {
      expect(status).toBe(409);
      expect(["external_id_taken", "link_claimed"]).toContain(code);
    }
    expect((await shorten(member, { external_id: "raced" })).body.code).toBe("external_id_taken");
    expect((await list(member, "?scope=account&external_id=raced")).total).toBe(1);
  });

  it("stays free when its request is refused", async () => {
    const member = await service.member("developer");
    const wrong = { external_id: "free", active_from: "2030-01-02", expires_at: "2030-01-01" };
    expect((await shorten(member, wrong)).status).toBe(400);
    const { slug } = (await shorten(member)).body;
    expect((await change(member, slug, { external_id: "free" }, { "if-match": '"9"' })).status).toBe(412);
    expect((await shorten(member, { external_id: "free" })).status).toBe(201);
  });

  it("is that of one link again when a request is repeated with its Idempotency-Key", async () => {
    const member = await service.member("developer");
    const send = () => shorten(member, { external_id: "keyed" }, { "idempotency-key": "k" });
    const answers = await Promise.all(Array.from({ length: 5 }, send));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(201));
    expect((await list(member)).total).toBe(1);
  });
});

describe("find_existing", () => {
  const find = { find_existing: true };

  it("answers 200 with the live link that leads alike and carries the same", async () => {
    const member = await service.member("developer");
    const rules = [{ when: { os: ["iOS"], query: { a: "1", b: true } }, url }];
    const first = await shorten(member, { title: "t", rules });
    const same = [{ when: { query: { b: true, a: "1" }, os: "iOS" }, url }];
    const found = await shorten(member, { ...find, title: "t", rules: same });
    expect([found.status, found.body]).toEqual([200, first.body]);
    for (const more of [{}, { title: "other", rules }, { title: "t", rules, redirect_code: 302 }])
      expect((await shorten(member, { ...find, ...more })).status).toBe(201);
    expect((await shorten(member, { title: "t", rules })).status).toBe(201);
    expect((await shorten(await service.member("developer"), { ...find, title: "t", rules })).status).toBe(
      201,
    );
  });

  it("finds no link that is disabled, deleted, changed since, or has a password", async () => {
    const member = await service.member("developer");
    for (const body of [{ disabled: true }, { title: "x" }, { url: `${url}/2` }, undefined]) {
      const { slug } = (await shorten(member, find)).body;
      await (body ? change(member, slug, body) : act(member, "DELETE", slug));
      const next = await shorten(member, find);
      expect([next.status, next.body.slug === slug]).toEqual([201, false]);
      await act(member, "DELETE", next.body.slug);
    }
    for (let n = 0; n < 2; n++)
      expect((await shorten(member, { ...find, password: "the same words" })).status).toBe(201);
  });

  it("with a slug finds that of the slug, else it is taken", async () => {
    const member = await service.member("developer");
    const domain_id = await service.domain(member.accountId, "find.example.org");
    const there = { domain_id, customSlug: "Mine" };
    expect((await shorten(member, { ...find, ...there })).status).toBe(201);
    expect((await shorten(member, { ...find, ...there })).status).toBe(200);
    expect((await shorten(member, { ...find, domain_id })).status).toBe(200);
    expect((await shorten(member, { ...find, ...there, title: "x" })).status).toBe(409);
    expect((await shorten(member, find)).status).toBe(201);
  });

  it.skipIf(onCluster())(
    "answers 201 again for the link that it made before its answer was lost",
    async () => {
      const member = await service.member("developer");
      const { secrets } = service.backend;
      const put = secrets.put.bind(secrets);
      secrets.put = async () => {
        throw new Error("the process is gone");
      };
      const send = () => shorten(member, { ...find, external_id: "lost" }, { "idempotency-key": "lost" });
      expect((await send()).status).toBe(500);
      secrets.put = put;
      const again = await send();
      expect([again.status, (await list(member)).total]).toEqual([201, 1]);
      expect((await shorten(member, { ...find, external_id: "lost" })).body).toEqual(again.body);
    },
  );

  it("makes one link of ten requests at once, and counts in bulk what it made", async () => {
    const member = await service.member("developer");
    const answers = await Promise.all(Array.from({ length: 10 }, () => shorten(member, find)));
    expect(new Set(answers.map(({ body }) => body.slug)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    const item = { url: `${url}/bulk`, ...find };
    const { body } = await service.post<Record<string, number> & { results: Link[] }>(
      "/api/v1/shorten/bulk",
      member.key,
      { links: [item, { url, ...find }, item] },
    );
    expect(body).toMatchObject({ success: true, total: 3, created: 1, failed: 0 });
    expect(body.results.map(({ existing }) => existing)).toEqual([undefined, true, true]);
    expect(body.results[2]?.slug).toBe(body.results[0]?.slug);
    expect((await list(member)).total).toBe(2);
  });
});
