// The life of one link by the API: read, change, delete, restore, history, and many at once.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { blockLink } from "../../src/commands/links/block-link.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { operator } from "../support/commands/command-deps.ts";
import { effort } from "../support/runtime/effort.ts";
import type { Ask } from "../support/service/ask.ts";
import {
  type Member,
  onCluster,
  startTestService,
  type TestService,
} from "../support/service/start-service.ts";

const url = "https://example.com/life";
type Details = { slug: string; short_url: string; long_url: string; revision: number } & Record<
  string,
  unknown
>;
type Entry = { type: string; revision?: number; changes: Record<string, unknown>; actor: object };
type Bulk = {
  success: boolean;
  total: number;
  updated?: number;
  deleted?: number;
  failed: number;
  results: ({ index: number } & Details)[];
  errors: { index: number; slug: string; error: string; code: string }[];
};

let service: TestService;
let developer: Member;
let free: Member;
let domainId: string;
let slug: string;

beforeAll(async () => {
  service = await startTestService();
  domainId = await service.domain((await service.member("developer")).accountId, "taken.example.org");
});
afterAll(() => service.stop());

/** Members of their own, as a key may ask a number of times an hour. */
beforeEach(async () => {
  developer = await service.member("developer");
  free = await service.member("free");
  slug = await made(developer.key);
});

async function made(key: string, more: object = {}): Promise<string> {
  const { status, body } = await service.post<Details>("/api/v1/shorten", key, { url, ...more });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.slug;
}
const at = (one: string, below = "") => `/api/v1/links/${one}${below}`;
const get = (one = slug, key = developer.key, headers = {}) =>
  service.ask<Details>(at(one), { key, headers });
const patch = (body: unknown, { one = slug, key = developer.key, ...more }: Ask & { one?: string } = {}) =>
  service.ask<Details & { code: string; error: string }>(at(one), { method: "PATCH", body, key, ...more });
const remove = (one = slug, more: Ask = {}) =>
  service.ask<Details & { code: string }>(at(one), { method: "DELETE", key: developer.key, ...more });
const restore = (one = slug, more: Ask = {}) =>
  service.ask<Details & { code: string }>(at(one, "/restore"), {
    method: "POST",
    key: developer.key,
    ...more,
  });
const history = (query = "", one = slug, key = developer.key) =>
  service.ask<{ history: Entry[]; total: number; next_cursor: string | null }>(at(one, `/history${query}`), {
    key,
  });
const follow = async () => {
  const { status, headers } = await service.ask(`/${slug}`);
  return [status, headers.location];
};
/** At once in the process that has answered; another one hears of it in a moment. */
const expectToLead = async (...expected: [number, string?]) =>
  onCluster()
    ? await expect.poll(follow).toEqual([...expected, undefined].slice(0, 2))
    : expect(await follow()).toEqual([...expected, undefined].slice(0, 2));

describe("GET /api/v1/links/{slug}", () => {
  it("answers the link with its state the moment it is made, to any key of the account, in any case", async () => {
    const other = (await service.issueKey(developer.accountId)).key;
    const { status, body, headers } = await get(slug.toUpperCase(), other);
    expect([status, headers.etag]).toEqual([200, '"0"']);
    expect(body).toEqual({
      short_url: `http://localhost/${slug}`,
      slug,
      long_url: url,
      created_at: expect.any(String),
      qr_download_url: `http://localhost/api/qr/${slug}`,
      status: "live",
      disabled: false,
      revision: 0,
      updated_at: body.created_at,
    });
  });

  it("answers 304 to who has it as it is", async () => {
    const known = await get(slug, developer.key, { "if-none-match": 'W/"0"' });
    expect([known.status, known.text]).toEqual([304, ""]);
    await patch({ title: "New" });
    expect((await get(slug, developer.key, { "if-none-match": '"0"' })).status).toBe(200);
  });

  it("answers 403 for another account's link, and 404 for none", async () => {
    for (const ask of [{}, { method: "PATCH", body: { title: "x" } }, { method: "DELETE" }])
      expect((await service.ask(at(slug), { key: free.key, ...ask })).status).toBe(403);
    expect((await restore(slug, { key: free.key })).status).toBe(403);
    expect((await history("", slug, free.key)).status).toBe(403);
    expect((await get("no-such-link")).status).toBe(404);
    expect((await patch({ title: "x" }, { one: "no-such-link" })).status).toBe(404);
    const elsewhere = await service.ask(at(`${slug}?domain_id=${domainId}`), { key: developer.key });
    expect(elsewhere.status).toBe(404);
  });

  it("finds a custom domain's link, by domain_id where the slug is on several", async () => {
    const own = [];
    for (const host of ["one.life.example", "two.life.example"])
      own.push(await service.domain(developer.accountId, host));
    for (const domain_id of own)
      await made(developer.key, { domain_id, customSlug: "bulk", url: `${url}/${domain_id}` });
    for (const id of own) {
      const { body } = await get(`bulk?domain_id=${id.toUpperCase()}`);
      expect([body.long_url, body.domain_id]).toEqual([`${url}/${id}`, id]);
      const changed = await service.ask<Bulk>(at("bulk"), {
        method: "PATCH",
        key: developer.key,
        body: { links: [{ slug: "bulk", domain_id: id, title: id }] },
      });
      expect(changed.body.results[0]).toMatchObject({ title: id, domain_id: id });
    }
  });

  it.skipIf(onCluster())("says that the operator has blocked it, and why", async () => {
    const deps = { ...runtimeDeps, eventStore: service.backend.eventStore };
    await blockLink(deps, operator, { host: "localhost", slug }, { reason: "Phishing", legal: false });
    expect((await get()).body).toMatchObject({
      status: "blocked",
      disabled: false,
      blocked: { reason: "Phishing", legal: false },
    });
    const refused = await patch({ url: `${url}/2` });
    expect([refused.status, refused.body.code]).toEqual([409, "blocked_by_operator"]);
    expect((await patch({ disabled: true })).status).toBe(200);
    expect((await remove()).body.status).toBe("deleted");
    expect((await restore()).status).toBe(409);
  });
});

describe("PATCH /api/v1/links/{slug}", () => {
  it("changes destination, state and fields as one, and the redirect at once", async () => {
    const { status, body, headers } = await patch({
      url: `${url}/2`,
      title: " Spring ",
      tags: ["a", "b", "a"],
      external_id: "order-1",
      redirect_code: 301,
    });
    expect([status, headers.etag]).toEqual([200, '"2"']);
    expect(body).toMatchObject({
      long_url: `${url}/2`,
      ...{ title: "Spring", tags: ["a", "b"], external_id: "order-1", redirect_code: 301 },
      ...{ status: "live", revision: 2 },
    });
    await expectToLead(301, `${url}/2`);
    expect((await get()).body).toEqual(body);
    const off = await patch({ disabled: true, title: null, tags: [], comments: "" });
    expect(off.body).toMatchObject({ status: "disabled", disabled: true });
    expect(off.body).not.toHaveProperty("title");
    expect(off.body).not.toHaveProperty("tags");
    await expectToLead(404);
    expect((await patch({ disabled: false })).body).toMatchObject({ status: "live", revision: 5 });
    await expectToLead(301, `${url}/2`);
  });

  it("changes nothing where nothing changes, and all or nothing", async () => {
    expect((await patch({})).body.revision).toBe(0);
    expect((await patch({ url, disabled: false, title: null })).body.revision).toBe(0);
    const refused = await patch({ title: "x", url: "javascript:alert(1)" });
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_url"]);
    expect((await get()).body.revision).toBe(0);
  });

  it.each([
    [{ titel: "x" }, "titel"],
    [{ url: null }, "url"],
    [{ disabled: "yes" }, "disabled"],
    [{ tags: "a" }, "tags"],
    [{ tags: Array(11).fill("a") }, "tags"],
    [{ tags: ["a".repeat(51)] }, "tags"],
    [{ tags: ["\u202e"] }, "tags"],
    [{ external_id: "\u0000" }, "external_id"],
    [{ rules: [{ when: { os: " " }, url }] }, "rules.0.when.os"],
    [{ redirect_code: 303 }, "redirect_code"],
    [{ max_clicks: 0 }, "max_clicks"],
    [{ rules: [{ when: {}, url }] }, "rules.0.when"],
    [{ slug: "other" }, "slug"],
    [{ active_from: "2027-01-02", expires_at: "2027-01-01" }, "active_from"],
    [{ expired_url: "ftp://x" }, "expired_url"],
    [{ rules: [{ when: { os: "iOS" }, url: "x" }] }, "rules.0.url"],
  ])("answers 400 to %j, and names the field", async (body, field) => {
    const answer = await patch(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(field);
  });

  it("takes the Developer tier's fields on that tier only; clearing them is free", async () => {
    const own = await made(free.key);
    const as = { one: own, key: free.key };
    for (const body of [
      { expires_at: "2030-01-01" },
      { max_clicks: 5 },
      { password: "a secret" },
      { rules: [{ when: { os: "iOS" }, url }] },
    ])
      expect([(await patch(body, as)).status, body]).toEqual([402, body]);
    const cleared = { expires_at: null, password: null, rules: [], max_clicks: null };
    const all = { title: "t", comments: "c", tags: ["t"], external_id: "x", redirect_code: 302 };
    expect((await patch({ ...all, ...cleared, forward_query: true }, as)).status).toBe(200);
    expect((await history("", own, free.key)).body.total).toBe(2);
  });

  it("never shows a password", async () => {
    const { body, text } = await patch({ password: "open sesame" });
    expect(body).toMatchObject({ has_password: true });
    expect(text + (await history()).text).not.toContain("sesame");
  });

  it("keeps no password of a request that it refuses, nor one that was changed or cleared", async () => {
    const kept = async () => (await service.backend.secrets.list("link-password/", new Date())).length;
    const before = await kept();
    const wrong = { password: "open sesame", active_from: "2030-01-02", expires_at: "2030-01-01" };
    expect((await patch(wrong)).status).toBe(400);
    expect((await service.post("/api/v1/shorten", developer.key, { url, ...wrong })).status).toBe(400);
    expect(await kept()).toBe(before);
    for (const [password, more] of [
      ["one password", 1],
      ["another one", 1],
      [null, 0],
    ] as const) {
      await patch({ password });
      expect(await kept()).toBe(before + more);
    }
    await Promise.all(Array.from({ length: 5 }, (_, n) => patch({ password: `password ${n}` })));
    const headers = { "idempotency-key": "one password" };
    const same = await Promise.all(
      Array.from({ length: 5 }, () => patch({ password: "the same" }, { headers })),
    );
    expect(same.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(await kept()).toBe(before + 1);
    const send = () =>
      service.post(
        "/api/v1/shorten",
        developer.key,
        { url, password: "a new one" },
        { headers: { "idempotency-key": "new" } },
      );
    const answers = await Promise.all(Array.from({ length: 5 }, send));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(201));
    expect(await kept()).toBe(before + 2);
  });

  it("lets one of 20 that saw the same revision change it: one 200, nineteen 412", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => patch({ title: `t${n}` }, { headers: { "if-match": '"0"' } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(412)]);
    const winner = answers.find(({ status }) => status === 200);
    expect((await get()).body).toEqual(winner?.body);
    expect(answers.find(({ status }) => status === 412)?.body.code).toBe("precondition_failed");
  });

  it("reads If-Match in each form that a proxy or a client makes of the tag, `*` as any", async () => {
    const when = async (ifMatch: string) =>
      (await patch({ title: ifMatch }, { headers: { "if-match": ifMatch } })).status;
    expect(await when('"7", "0"')).toBe(200);
    expect(await when('"7", "0"')).toBe(412);
    expect(await when('W/"1"')).toBe(200);
    expect(await when('W/"1"')).toBe(412);
    expect(await when('"2-gzip"')).toBe(200);
    expect(await when('"7", W/"3-zstd"')).toBe(200);
    expect(await when('"x"')).toBe(412);
    expect(await when("*")).toBe(200);
    expect(await when("5")).toBe(200);
    expect(await when("x")).toBe(400);
  });
});

describe("DELETE and restore", () => {
  it("deletes a link, which only its history and restore find, and brings it back as it was", async () => {
    await patch({ disabled: true, title: "kept" });
    const gone = await remove();
    expect([gone.status, gone.headers.etag]).toEqual([200, '"3"']);
    expect(gone.body).toMatchObject({ status: "deleted", title: "kept" });
    expect([(await get()).status, (await remove()).status]).toEqual([404, 404]);
    const late = await patch({ title: "x" });
    expect([late.status, late.body.code]).toEqual([409, "link_deleted"]);
    expect((await history()).body.history.map(({ type }) => type)).toEqual([
      ...["LinkDeleted", "LinkDisabled", "LinkOptionsChanged", "LinkCreated"],
    ]);
    const back = await restore();
    expect([back.status, back.body.status]).toEqual([200, "disabled"]);
    expect((await restore()).body).toEqual(back.body);
    expect((await get()).body).toEqual(back.body);
  });

  it("take If-Match, too", async () => {
    expect((await remove(slug, { headers: { "if-match": '"1"' } })).status).toBe(412);
    expect((await remove(slug, { headers: { "if-match": '"0"' } })).status).toBe(200);
    expect((await restore(slug, { headers: { "if-match": '"0"' } })).status).toBe(412);
    expect((await restore(slug, { headers: { "if-match": "*" } })).status).toBe(200);
  });

  it("take an empty body of any type", async () => {
    const headers = { "content-type": "application/json", "content-length": "0" };
    expect((await remove(slug, { headers })).status).toBe(200);
    expect((await restore(slug, { headers })).status).toBe(200);
  });
});

it.skipIf(onCluster())(
  "a link that is followed all the time leads nowhere but where the last answer says",
  async () => {
    const outcomes = [`301 ${url}`];
    let answered = 0;
    let isOver = false;
    let hits = 0;
    const visit = async () => {
      while (!isOver) {
        const from = answered;
        const { status, headers } = await service.ask(`/${slug}`);
        // What is asked for meanwhile may be in effect before it is answered.
        expect(outcomes.slice(from)).toContain(`${status} ${headers.location ?? ""}`.trim());
        hits += 1;
      }
    };
    const change = async (outcome: string, ask: () => Promise<{ status: number }>) => {
      outcomes.push(outcome);
      expect((await ask()).status).toBe(200);
      answered = outcomes.length - 1;
    };
    const changes = async () => {
      for (let n = 0; n < effort(10, 40); n++) {
        const to = `${url}/${n}`;
        await change(`301 ${to}`, () => patch({ url: to }));
        await change("404", () => (n % 2 ? remove() : patch({ disabled: true })));
        await change(`301 ${to}`, () => (n % 2 ? restore() : patch({ disabled: false })));
      }
    };
    await Promise.all([changes().finally(() => (isOver = true)), ...Array.from({ length: 4 }, visit)]);
    expect(hits).toBeGreaterThan(outcomes.length);
  },
);

describe("GET /api/v1/links/{slug}/history", () => {
  it("says who changed what, newest first, a page at a time", async () => {
    await patch({ title: "a" });
    await patch({ title: "b", url: `${url}/2` });
    await patch({ title: null, password: "a secret" });
    const entries: Entry[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof history>> = await history(
        `?limit=2${cursor && `&cursor=${cursor}`}`,
      );
      expect([page.status, page.body.total]).toEqual([200, 5]);
      entries.push(...page.body.history);
      cursor = page.body.next_cursor;
    }
    const by = { type: "key", id: developer.keyId };
    const change = "LinkOptionsChanged";
    expect(entries).toMatchObject([
      {
        ...{ type: change, revision: 4, actor: by },
        changes: { title: { from: "b", to: null }, has_password: { from: null, to: true } },
      },
      { type: change, revision: 3, changes: { title: { from: "a", to: "b" } } },
      { type: "LinkRetargeted", revision: 2, changes: { url: { from: url, to: `${url}/2` } } },
      { type: change, revision: 1, changes: { title: { from: null, to: "a" } } },
      { type: "LinkCreated", revision: 0, changes: { url: { from: null, to: url } } },
    ]);
    expect((await history("?cursor=x")).status).toBe(400);
  });
});

describe("Idempotency-Key on changes", () => {
  const keyed = (key: string, more: Record<string, string> = {}) => ({
    headers: { "idempotency-key": key, ...more },
  });

  it("gives the same answer and ETag again, for each method and link apart", async () => {
    const other = await made(developer.key);
    const first = await patch({ title: "a" }, keyed("k", { "if-match": '"0"' }));
    const second = await patch({ title: "a" }, keyed("k", { "if-match": '"0"' }));
    expect([second.status, second.text, second.headers.etag]).toEqual([200, first.text, '"1"']);
    expect(second.headers["idempotency-replayed"]).toBe("true");
    expect((await patch({ title: "b" }, keyed("k"))).body.code).toBe("idempotency_key_reused");
    expect((await patch({ title: "b" }, { one: other, ...keyed("k") })).body.title).toBe("b");
    const gone = await remove(slug, keyed("k"));
    expect([gone.status, gone.body.status]).toEqual([200, "deleted"]);
    expect((await remove(slug, keyed("k"))).text).toBe(gone.text);
    const back = await restore(slug, keyed("k"));
    expect((await restore(slug, keyed("k"))).text).toBe(back.text);
  });

  it.skipIf(onCluster())("answers as done what was done before its answer was lost", async () => {
    const { secrets } = service.backend;
    const lost = async (ask: () => Promise<{ status: number }>) => {
      const put = secrets.put.bind(secrets);
      secrets.put = async () => {
        throw new Error("the process is gone");
      };
      expect((await ask()).status).toBe(500);
      secrets.put = put;
    };
    const change = () => patch({ title: "once", disabled: true }, keyed("lost", { "if-match": '"0"' }));
    await lost(change);
    await patch({ title: "later" });
    const again = await change();
    expect([again.status, again.headers.etag]).toEqual([200, '"2"']);
    expect(again.body).toMatchObject({ title: "once", disabled: true, revision: 2 });
    expect((await get()).body.title).toBe("later");
    const deletion = () => remove(slug, keyed("lost"));
    await lost(deletion);
    expect((await deletion()).body).toMatchObject({ status: "deleted", revision: 4 });
    await restore();
    const bulk = () =>
      service.ask<Bulk>(at("bulk"), {
        ...{ method: "DELETE", key: developer.key, body: { links: [{ slug }] } },
        ...keyed("lost"),
      });
    await lost(bulk);
    expect((await bulk()).body).toMatchObject({ deleted: 1, failed: 0 });
    expect((await history()).body.total).toBe(7);
  });

  it("changes once what is sent ten times at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => patch({ title: "ten" }, keyed("ten", { "if-match": '"0"' }))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await history()).body.total).toBe(2);
  });
});

it("says what to use instead where a change names what a link keeps", async () => {
  for (const [name, words] of [
    ["long_url", /long_url \(the destination is changed by url\)/],
    ["slug", /slug \(the slug of a link stays: create another link\)/],
  ] as const) {
    const { status, body } = await patch({ [name]: "https://example.com/x" });
    expect([status, body.error]).toEqual([400, expect.stringMatching(words)]);
  }
});

describe("a method that an address doesn't take", () => {
  it("is answered 405 with those that it does; an unknown address 404, whatever the method", async () => {
    const ask = async (method: string, path: string) => {
      const { status, headers, body } = await service.ask<{ code: string }>(path, {
        method,
        key: developer.key,
      });
      return [status, headers.allow, body.code];
    };
    const one = ["DELETE, GET, HEAD, PATCH", "method_not_allowed"];
    expect(await ask("PUT", at(slug))).toEqual([405, ...one]);
    expect(await ask("GET", "/api/v1/shorten")).toEqual([405, "POST", "method_not_allowed"]);
    expect(await ask("PUT", "/api/v1/nothing")).toEqual([404, undefined, "not_found"]);
  });
});

describe("PATCH and DELETE /api/v1/links/bulk", () => {
  it("deletes by POST, too, for clients that send no body with a DELETE", async () => {
    const path = `${at("bulk")}/delete`;
    const { body } = await service.ask<Bulk>(path, {
      method: "POST",
      key: developer.key,
      body: { links: [{ slug }] },
    });
    expect(body).toMatchObject({ deleted: 1, failed: 0 });
    expect((await get()).status).toBe(404);
  });

  const bulk = (method: string, links: unknown, key = developer.key) =>
    service.ask<Bulk & { code: string }>(at("bulk"), { method, key, body: { links } });

  it("change and delete what they can, and say by index what they could not", async () => {
    const other = await made(developer.key);
    const theirs = await made(free.key);
    const changed = await bulk("PATCH", [
      { slug: slug.toUpperCase(), title: "first", tags: ["x"] },
      { slug: theirs, title: "x" },
      { slug: other, url: "nope" },
      { slug: other, redirect_code: 303 },
      { slug, title: "second" },
      { slug: "no-such-link", title: "x" },
      "text",
      { slug: other, unknown: 1 },
      { title: "x" },
    ]);
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ success: true, tier: "developer", total: 9, updated: 2, failed: 7 });
    expect(changed.body.results.map(({ index, title, revision }) => [index, title, revision])).toEqual([
      [0, "first", 1],
      [4, "second", 2],
    ]);
    expect(changed.body.errors.map(({ index, slug: one, code }) => [index, one, code])).toEqual([
      [1, theirs, "forbidden"],
      [2, other, "invalid_url"],
      [3, other, "invalid_item"],
      [5, "no-such-link", "not_found"],
      [6, "", "invalid_item"],
      [7, other, "invalid_item"],
      [8, "", "invalid_item"],
    ]);
    expect(changed.body.errors[2]?.error).toBe(
      "Invalid link: redirect_code must be one of 301, 302, 307, 308",
    );
    const gone = await bulk("DELETE", [{ slug }, { slug: theirs }, { slug, title: "x" }, { slug }]);
    expect(gone.body).toMatchObject({ total: 4, deleted: 1, failed: 3 });
    expect(gone.body.results[0]).toMatchObject({ index: 0, slug, status: "deleted", title: "second" });
    expect(gone.body.errors.map(({ index, code }) => [index, code])).toEqual([
      [1, "forbidden"],
      [2, "invalid_item"],
      [3, "not_found"],
    ]);
  });

  it("take 100 links, need the Developer tier, and refuse none and more", async () => {
    const { body } = await service.post<{ results: { slug: string }[] }>(
      "/api/v1/shorten/bulk",
      developer.key,
      { links: Array.from({ length: 100 }, () => ({ url })) },
    );
    const all = body.results.map((one) => ({ slug: one.slug }));
    const changed = await bulk(
      "PATCH",
      all.map((one, n) => ({ ...one, title: `n${n}` })),
    );
    expect([changed.body.updated, changed.body.failed]).toEqual([100, 0]);
    expect((await bulk("DELETE", all)).body.deleted).toBe(100);
    for (const method of ["PATCH", "DELETE"]) {
      expect((await bulk(method, [{ slug }], free.key)).status).toBe(402);
      for (const links of [[], Array(101).fill({ slug }), {}, null])
        expect((await bulk(method, links)).status).toBe(400);
    }
  });
});
