// Links in the portal over real HTTP, without scripts: create, search, change one or several, delete, restore.
import { describe, expect, it } from "vitest";
import { decoded, FIREFOX } from "../../support/portal/browser-like.ts";
import { type Person, peopledService } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";

const CHANGES = 20;
const URL_TYPED = "example.com/typed?a=1&b=%22";

const { service, people } = peopledService({ RATE_LIMIT_FREE: String(CHANGES) });

async function makeLinks(one: Person, count: number): Promise<string[]> {
  const paths: string[] = [];
  for (let n = 0; n < count; n += 1) paths.push(await people.shorten(one, `https://example.com/${n}`));
  return paths;
}

const keyOf = (path: string) => path.replace("/portal/links/", "");

async function change(one: Person, wanted: string, paths: string[], query = "") {
  const chosen = paths.map((path): [string, string] => ["link", keyOf(path)]);
  const fields: [string, string][] = [["change", wanted], ...chosen];
  const answer = await one.follow(await one.post(`/portal/links/several${query}`, fields));
  return { ...answer, text: decoded(answer.text) };
}

const statuses = (paths: string[]) =>
  Promise.all(paths.map(async (path) => (await people.follow(path)).status));

/** The sentences of a link's page, newest first. */
function historyIn(page: string): string[] {
  const [, list = ""] = /<ol class="timeline">([\s\S]*?)<\/ol>/.exec(page) ?? [];
  return [...list.matchAll(/<li class="break">([\s\S]*?)<p class="muted small">/g)].map(([, said = ""]) =>
    decoded(said.replace(/<[^>]*>/g, " "))
      .replace(/\s+/g, " ")
      .trim(),
  );
}

/** Text of the long address's field. */
function typedIn(page: string): string {
  return decoded(/name="url" type="text"\s*value="([^"]*)"/.exec(page)?.[1] ?? "").replaceAll("&amp;", "&");
}

describe("links in the portal", { timeout: 60_000 }, () => {
  it("are created from a URL alone, work immediately, and are listed", async () => {
    const one = await people.person();
    const empty = await one.get("/portal/links");
    expect(empty.text).toContain("No links yet");
    const path = await people.shorten(one, "https://example.com/a?b=1&c=2");
    const page = await one.get(path);
    expect(page.text).toContain("is ready");
    expect(decoded(page.text)).toContain(`src="/api/qr/${path.split("/").at(-1)}?look=account&format=svg`);
    expect((await people.follow(path)).headers.location).toBe("https://example.com/a?b=1&c=2");
    const list = await one.get("/portal/links");
    expect(list.text).toContain(`href="${path}"`);
    expect(list.text).toContain("1 link.");
  });

  it("made here are made in the web, by no key", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/");
    const events = await service.backend.eventStore.read(`link-localhost/${path.split("/").at(-1)}`);
    expect(events[0]?.data).toMatchObject({ via: "web", custom: false });
    expect(events[0]?.data).not.toHaveProperty("keyId");
    expect(events[0]?.metadata.actor).toEqual({ type: "person", id: one.accountId });
  });

  it("are made once by a form that is sent twice, and anew by one with another address", async () => {
    const one = await people.person();
    const once = /name="once" value="([^"]+)"/.exec((await one.get("/portal/links/new")).text)?.[1] ?? "";
    const paths = [];
    for (const url of ["https://example.com/1", "https://example.com/1", "https://example.com/2"])
      paths.push(await people.shorten(one, url, { once }));
    expect(paths[0]).toBe(paths[1]);
    expect(paths[2]).not.toBe(paths[0]);
  });

  it("take a slug of one's own on one's own domain, on the Developer plan", async () => {
    const one = await people.developer();
    const { accountId } = one;
    const hint = '<a href="/portal/domains">Add your own domain</a>';
    expect((await one.get("/portal/links/new")).text).toContain(hint);
    const domainId = await service.domain(accountId, "go.example.org");
    const form = async () => (await one.get("/portal/links/new")).text;
    await until("the domain", async () => (await form()).includes("go.example.org"));
    const path = await people.shorten(one, "https://example.com/sale", {
      domain: domainId,
      slug: "Summer-Sale",
    });
    expect(path).toBe("/portal/links/go.example.org/summer-sale");
    const found = await service.ask("/summer-sale", { host: "go.example.org" });
    expect(found.headers.location).toBe("https://example.com/sale");
    expect(decoded((await one.get(path)).text)).toContain(`domain_id=${domainId}`);

    const tries: [Record<string, string>, number, string][] = [
      [{ domain: domainId, slug: "summer-sale" }, 409, "field-slug-error"],
      [{ domain: domainId, slug: "a b c" }, 422, "field-slug-error"],
      [{ domain: "", slug: "free" }, 400, "field-slug-error"],
      [{ domain: "0f9b1a52-3c1d-4a52-9d5e-0a1b2c3d4e5f", slug: "" }, 400, "field-domain-error"],
    ];
    for (const [fields, status, error] of tries) {
      const answer = await one.post("/portal/links", {
        url: "https://example.com/",
        ...fields,
      });
      expect([answer.status, answer.text.includes(error)]).toEqual([status, true]);
      expect(answer.text).toContain(`id="field-slug" name="slug" type="text" value="${fields.slug}"`);
    }
  });

  it("show Free accounts what the plan would add, and refuse what it lacks", async () => {
    const one = await people.person();
    const page = await one.get("/portal/links/new");
    expect(page.text).toContain('href="/portal/plan"');
    expect(page.text).not.toContain('name="slug"');
    const fields = { url: "https://example.com/", slug: "own", domain: "" };
    expect((await one.post("/portal/links", fields)).status).toBe(402);
  });

  it("are found by search and filters, and paged without a gap or a repeat", async () => {
    const one = await people.developer();
    const { accountId } = one;
    const { key } = await service.issueKey(accountId);
    const items = (from: number) =>
      Array.from({ length: 60 }, (_, n) => ({ url: `https://example.com/page-${from + n}?x=Spring` }));
    for (const from of [0, 60]) await service.post("/api/v1/shorten/bulk", key, { links: items(from) });
    await until("120 links", async () => (await one.get("/portal/links")).text.includes("120 links"));
    const numbers = (text: string) =>
      [...text.matchAll(/title="https:\/\/example\.com\/page-(\d+)/g)].map((found) => found[1] ?? "");
    const to = (text: string, label: string) =>
      decoded(new RegExp(`href="([^"]+)">${label}</a>`).exec(text)?.[1] ?? "");
    const first = (await one.get("/portal/links?q=sPRING")).text;
    const second = (await one.get(to(first, "Next"))).text;
    const last = (await one.get(to(second, "Next"))).text;
    expect([first, second, last].map((text) => numbers(text).length)).toEqual([50, 50, 20]);
    expect(new Set([first, second, last].flatMap(numbers)).size).toBe(120);
    expect(numbers((await one.get(to(last, "Previous"))).text)).toEqual(numbers(second));
    expect(numbers((await one.get(to(last, "First"))).text)).toEqual(numbers(first));
    expect([to(first, "Previous"), to(last, "Next")]).toEqual(["", ""]);
    expect(to(second, "Next")).toContain("q=sPRING");
    expect([first, second].every((text) => text.includes("All 120 that fit"))).toBe(true);
    const wrong = await one.get("/portal/links?after=nowhere");
    expect([wrong.status, wrong.text.includes("The cursor is not valid")]).toEqual([400, true]);
    expect((await one.get("/portal/links?q=page-77")).text).toContain("page-77");
    expect((await one.get("/portal/links?q=nowhere")).text).toContain("Nothing found");
    expect((await one.get("/portal/links?status=disabled")).text).toContain("Nothing found");
  });

  it("are retargeted, disabled, deleted and restored, with all of it in their history", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/old");
    const status = async () => (await people.follow(path)).status;
    await one.submit(path, { url: "https://example.com/new" }, `${path}/edit`);
    expect((await people.follow(path)).headers.location).toBe("https://example.com/new");

    const disabled = await one.submit(path, {}, `${path}/disable`);
    expect([disabled.text.includes(">Disabled</span>"), await status()]).toEqual([true, 404]);
    expect((await one.get("/portal/links?status=disabled")).text).toContain(`href="${path}"`);
    await one.submit(path, {}, `${path}/enable`);
    expect(await status()).toBe(301);

    const deleted = await one.submit(path, {}, `${path}/delete`);
    expect([deleted.text.includes("Restore link"), await status()]).toEqual([true, 404]);
    expect((await one.get("/portal/links")).text).not.toContain(`href="${path}"`);
    expect((await one.get("/portal/links?status=deleted")).text).toContain(`href="${path}"`);
    expect((await one.get("/portal/links")).text).toContain("All your links are deleted");
    await one.submit(path, {}, `${path}/restore`);
    expect(await status()).toBe(301);

    const { text } = await one.get(path);
    expect(historyIn(text)).toEqual([
      "You restored this link",
      "You deleted this link",
      "You enabled this link again",
      "You disabled this link",
      "You changed the destination from https://example.com/old to https://example.com/new",
      "You created this link to https://example.com/old",
    ]);
  });

  it("show a state only where they don't work, and the clicks of people with a chart in words", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/");
    for (let n = 0; n < 3; n += 1) await people.follow(path, { "user-agent": FIREFOX });
    await people.follow(path, { "user-agent": "Googlebot/2.1" });
    const list = async () => (await one.get("/portal/links")).text;
    await until("three clicks", async () => (await list()).includes('aria-label="3 clicks, view analytics"'));
    expect(await list()).toContain('aria-label="3 clicks in the last 14 days, at most 3 a day"');
    expect(await list()).not.toContain('class="badge');
    await one.submit(path, {}, `${path}/disable`);
    expect(await list()).toContain(">Disabled</span>");
  });

  it("keep their destination when the new one is refused", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/old");
    const refused = await one.submit(path, { url: "javascript:alert(1)" }, `${path}/edit`);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('id="field-url-error"');
    expect(refused.text).toContain('value="javascript:alert(1)"');
    expect((await people.follow(path)).headers.location).toBe("https://example.com/old");
    await one.submit(path, { url: "example.com/new" }, `${path}/edit`);
    expect((await people.follow(path)).headers.location).toBe("https://example.com/new");
  });
});

describe("several links of the portal's list", { timeout: 60_000 }, () => {
  it("are disabled, enabled, deleted and restored at once, and the rest stays as it is", async () => {
    const one = await people.person();
    const paths = await makeLinks(one, 3);
    const some = paths.slice(0, 2);
    const disabled = await change(one, "disable", some);
    expect([disabled.status, await statuses(paths)]).toEqual([200, [404, 404, 301]]);
    expect(disabled.text).toContain("2 links disabled.");
    await change(one, "enable", some);
    expect(await statuses(paths)).toEqual([301, 301, 301]);
    const deleted = await change(one, "delete", some);
    expect(deleted.text).toContain("2 links deleted. You can restore what you deleted at any time");
    expect(await statuses(paths)).toEqual([404, 404, 301]);
    const list = (await one.get("/portal/links?status=deleted")).text;
    expect([list.includes('value="restore"'), list.includes('value="delete"')]).toEqual([true, false]);
    const restored = await change(one, "restore", some, "?status=deleted");
    expect(restored.text).toContain("2 links restored.");
    expect(await statuses(paths)).toEqual([301, 301, 301]);
  });

  it("that can't be changed are named with the reason and stay chosen; the others are changed", async () => {
    const [one, other] = [await people.person(), await people.person()];
    const [good = "", gone = ""] = await makeLinks(one, 2);
    const [theirs = ""] = await makeLinks(other, 1);
    await one.submit(gone, {}, `${gone}/delete`);
    const none = "/portal/links/localhost/none1234";
    const { status, text } = await change(one, "disable", [theirs, good, gone, none, good]);
    expect([status, await statuses([theirs, good])]).toEqual([200, [301, 404]]);
    expect(text).toContain("1 link disabled.");
    expect(text).toContain(`Not changed: ${keyOf(theirs)}, ${keyOf(none)}: Short link not found.`);
    expect(text).toContain(`Not changed: ${keyOf(gone)}: This link is deleted; restore it first.`);
    expect(text).not.toMatch(new RegExp(`value="${keyOf(good)}"[^>]*checked`));
    const international = await change(one, "disable", ["/portal/links/xn--mnchen-3ya.example/none1234"]);
    expect(international.text).toContain("Not changed: münchen.example/none1234");
    const nothing = await change(one, "enable", [gone]);
    expect([nothing.status, nothing.text.includes("enabled.")]).toEqual([409, false]);
    const unchosen = await change(one, "delete", []);
    expect([unchosen.status, unchosen.text.includes("Choose at least one link")]).toEqual([409, true]);
  });

  it("count as one change each in the hour's limit, and what was chosen is kept beyond it", async () => {
    const one = await people.person();
    const paths = await makeLinks(one, 4);
    for (let n = 4; n < CHANGES - 3; n += 1) await one.post("/portal/plan/withdraw", {});
    const some = await change(one, "disable", paths);
    expect([some.status, some.text.includes("3 links disabled.")]).toEqual([200, true]);
    expect((await statuses(paths)).filter((status) => status === 301)).toHaveLength(1);
    expect(some.text).toContain(`: You have made ${CHANGES} changes within an hour`);
    const none = await change(one, "disable", paths.slice(0, 1));
    expect([none.status, none.headers["retry-after"]]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(none.text).toMatch(new RegExp(`value="${keyOf(paths[0] ?? "")}"[^>]*checked`));
  });

  it("are at most 500 of a form", async () => {
    const one = await people.person();
    await makeLinks(one, 1);
    const many = Array.from({ length: 501 }, (_, n) => `/portal/links/localhost/many${n}`);
    expect((await change(one, "delete", many)).status).toBe(400);
  });
});

describe("all links that fit a filter of the portal's list", { timeout: 60_000 }, () => {
  const fields = (change: string, all: number, more: Record<string, string> = {}) => ({
    change,
    all: String(all),
    ...more,
  });
  const send = async (one: Person, query: string, sent: Record<string, string>) => {
    const answer = await one.follow(await one.post(`/portal/links/several${query}`, sent));
    return { ...answer, text: decoded(answer.text) };
  };
  const shown = async (one: Person, query: string) =>
    [...(await one.get(`/portal/links${query}`)).text.matchAll(/name="link" value="[^/]+\/([^"]+)"/g)].map(
      ([, slug]) => slug,
    );

  it("get a tag, lose it, are disabled and deleted at once, and no other link does", async () => {
    const one = await people.developer();
    const { key } = await service.issueKey(one.accountId);
    const links = Array.from({ length: 70 }, (_, n) => ({
      url: `https://example.com/${n}`,
      tags: ["spring"],
    }));
    await service.post("/api/v1/shorten/bulk", key, { links });
    const other = await people.shorten(one, "https://example.com/other", { tags: "summer" });
    await until("71 links", async () => (await one.get("/portal/links")).text.includes("71 links"));
    const tagged = await send(one, "?tag=spring", fields("tag", 70, { tag: "mail" }));
    expect([tagged.status, tagged.text.includes("70 links with the tag mail.")]).toEqual([200, true]);
    expect((await one.get("/portal/links?tag=mail")).text).toContain("All 70 that fit");
    await send(one, "?tag=mail", fields("untag", 70, { tag: "spring" }));
    expect((await one.get("/portal/links?tag=spring")).text).toContain("Nothing found");
    await send(one, "?made_by=api", fields("disable", 70));
    expect((await one.get("/portal/links?status=disabled")).text).toContain("All 70 that fit");
    const deleted = await send(one, "?status=disabled", fields("delete", 70));
    expect(deleted.text).toContain("70 links deleted.");
    expect(await shown(one, "")).toEqual([other.split("/").at(-1)]);
    expect(await shown(one, "?made_by=portal")).toEqual([other.split("/").at(-1)]);
    expect((await people.follow(other)).status).toBe(301);
  });

  it("are as many as the page said, or nothing is changed", async () => {
    const one = await people.person();
    const paths = await makeLinks(one, 3);
    const refused = await send(one, "", fields("disable", 2));
    expect([refused.status, refused.text.includes("3 links fit by now, not 2")]).toEqual([400, true]);
    const untagged = await send(one, "", fields("tag", 3, { tag: " " }));
    expect([untagged.status, untagged.text.includes("A tag must have 1 to 50 characters")]).toEqual([
      400,
      true,
    ]);
    expect(await statuses(paths)).toEqual([301, 301, 301]);
  });

  it("are changed a thousand at a time, and one button goes on with the others", async () => {
    const one = await people.developer();
    const { key } = await service.issueKey(one.accountId);
    for (let part = 0; part < 11; part += 1) {
      const links = Array.from({ length: 100 }, (_, n) => ({ url: `https://example.com/${part}-${n}` }));
      await service.post("/api/v1/shorten/bulk", key, { links });
    }
    await until("1,100 links", async () => (await one.get("/portal/links")).text.includes("1,100 links"));
    const part = await send(one, "", fields("tag", 1_100, { tag: "many" }));
    expect(part.text).toContain("1,000 links with the tag many.");
    expect(part.text).toContain("Go on with the next 100");
    const names = [...part.text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const rest = Object.fromEntries(names.map(([, name = "", value = ""]) => [name, value]));
    expect(rest).toMatchObject({ change: "tag", tag: "many", all: "100" });
    expect((await send(one, "", rest)).text).toContain("100 links with the tag many.");
    expect((await one.get("/portal/links?tag=many")).text).toContain("All 1,100 that fit");
  });

  it("are exported as a table that an import takes, as are chosen ones", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "https://example.com/a,b", {
      title: "Spring, sale",
      tags: "mail",
    });
    const [second = ""] = await makeLinks(one, 1);
    const all = await one.post("/portal/links/several", fields("export", 2));
    expect([all.headers["content-type"], all.headers["content-disposition"]]).toEqual([
      "text/csv; charset=utf-8; header=present",
      'attachment; filename="links.csv"',
    ]);
    const [head = "", ...rows] = all.text.trimEnd().split("\r\n");
    expect(head).toMatch(
      /^\ufeffshort_url \(for spreadsheets: [^,]*\),url,slug,domain,title,.*,status,disabled,created_at,made_by,clicks$/,
    );
    expect(rows.length).toBe(2);
    expect(rows.at(-1)).toContain('"https://example.com/a,b"');
    expect(rows.at(-1)).toContain('"Spring, sale"');
    expect(rows.at(-1)).toContain(`,${one.email},0`);
    const some = await one.post("/portal/links/several", [
      ["change", "export"],
      ["link", keyOf(second)],
      ["link", keyOf((await makeLinks(await people.person(), 1))[0] ?? "")],
    ]);
    const slugs = some.text
      .trimEnd()
      .split("\r\n")
      .slice(1)
      .map((row) => row.split(",")[2]);
    expect(slugs).toEqual([second.split("/").at(-1)]);
    expect(all.text).toContain(path.split("/").at(-1));
    const none = await one.post("/portal/links/several", { change: "export" });
    expect([none.status, none.text.includes("Choose at least one link first.")]).toEqual([400, true]);
  });
});

describe("a long address that is typed", { timeout: 60_000 }, () => {
  it("may leave out https://, in a form alone", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "example.com/foo");
    expect((await people.follow(path)).headers.location).toBe("https://example.com/foo");
    const { key } = await service.issueKey(one.accountId);
    const { status } = await service.post("/api/v1/shorten", key, { url: "example.com/foo" });
    expect(status).toBe(400);
    const refused = await one.submit("/portal/links/new", { url: "ftp://example.com/" }, "/portal/links");
    expect([refused.status, typedIn(refused.text)]).toEqual([400, "ftp://example.com/"]);
    expect(decoded(refused.text)).toMatch(/id="field-url-error">[\s\S]*not ftp:/);
    const markup = await one.submit("/portal/links/new", { url: "<script>alert(1)" }, "/portal/links");
    expect(markup.text).not.toContain("<script>alert");
  });

  it("is kept in a form that is too long, or whose session is over", async () => {
    const one = await people.person();
    const long = await one.post("/portal/links", { url: `${URL_TYPED}${"x".repeat(9_000)}` });
    expect([long.status, typedIn(long.text).startsWith(URL_TYPED)]).toEqual([400, true]);
    const tooLong = await one.post("/portal/links", { url: "x".repeat(70_000) });
    expect([tooLong.status, tooLong.text.includes('action="/portal/links"')]).toEqual([400, true]);

    one.cookies.delete("linkledger-session");
    const over = await one.post("/portal/links", { url: URL_TYPED });
    const back = new URL(String(over.headers.location), "http://x").searchParams.get("next") ?? "";
    await one.submit("/portal/sign-in", { email: one.email, password: "seven brown foxes" });
    expect(typedIn((await one.get(back)).text)).toBe(URL_TYPED);

    one.cookies.delete("linkledger-session");
    // Too long for an address, once it is encoded.
    const signs = await one.post("/portal/links", { url: `https://example.com/?${"=&".repeat(4_000)}` });
    expect(signs.headers.location).toBe("/portal/sign-in?next=%2Fportal%2Flinks%2Fnew");
  });

  it("is not shown for a form of another site", async () => {
    const one = await people.person();
    const { status, text } = await service.ask<string>("/portal/links", {
      method: "POST",
      headers: {
        ...{ cookie: one.cookie(), accept: "text/html", "sec-fetch-site": "cross-site" },
        "content-type": "application/x-www-form-urlencoded",
      },
      body: "url=https%3A%2F%2Fevil.example%2F",
    });
    expect([status, text.includes("evil.example")]).toEqual([403, false]);
  });

  it("is kept when the hour's changes are used up, for a new link and for a destination", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/first");
    for (let n = 1; n < CHANGES; n += 1) await one.post("/portal/plan/withdraw", {});
    for (const action of ["/portal/links", `${path}/edit`]) {
      const { status, text, headers } = await one.post(action, { url: URL_TYPED });
      expect([status, typedIn(text)]).toEqual([429, URL_TYPED]);
      expect(text).toContain(`You have made ${CHANGES} changes within an hour`);
      expect(headers["retry-after"]).toMatch(/^\d+$/);
    }
  });

  it("has its form a click away from every page, for those who are signed in", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/");
    const button = 'href="/portal/links/new"';
    for (const at of [
      "/portal",
      "/portal/links",
      path,
      "/portal/analytics",
      "/portal/keys",
      "/portal/account",
    ])
      expect([at, (await one.get(at)).text.includes(button)]).toEqual([at, true]);
    expect((await one.get("/portal/none")).text).toContain(button);
    expect((await service.ask<string>("/portal/sign-in")).text).not.toContain(button);
  });
});
