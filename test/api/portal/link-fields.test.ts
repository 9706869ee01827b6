// What a link carries besides its destination, in the portal's forms without scripts: refused, kept, edited by several at once.
// That each field is set, changed and cleared there, too: test/api/link-fields.test.ts.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blockLink } from "../../../src/commands/links/block-link.ts";
import { FIELD_NAMES, type FieldName, fieldRow } from "../../../src/commands/links/fields/link-fields.ts";
import { linkPasswordSecret } from "../../../src/commands/links/link-password.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { optionsOf as carried } from "../../../src/events/link-options.ts";
import { linkHistory } from "../../../src/queries/links/link-history.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { FIELD_CASES } from "../../support/service/link-field-cases.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

type Typed = Readonly<Record<string, string>>;
const LATER = "2099-12-24T18:30";
const URL_TYPED = "example.com/over";
const rule = (more: Typed, n = 0) =>
  Object.fromEntries(
    Object.entries({ url: "example.com/app", ...more }).map(([name, value]) => [
      ["id", "name", "url"].includes(name) ? `rules.${n}.${name}` : `rules.${n}.when.${name}`,
      value,
    ]),
  );

/** One of each kind of input and of refusal, with where it is refused, and why. */
const WRONG: readonly (readonly [typed: Typed, field: string, why: string])[] = [
  [{ title: "x".repeat(201) }, "title", "It must have at most 200 characters."],
  [{ comments: "x".repeat(2001) }, "comments", "It must have at most 2000 characters."],
  [{ tags: `a,${"x".repeat(51)}` }, "tags", "It must have at most 50 characters."],
  [{ active_from: LATER, expires_at: LATER }, "active_from", "Active from must be before Expires at"],
  [{ expires_at: "2020-01-01T00:00" }, "expires_at", "Expires at must be in the future"],
  [{ expired_url: "javascript:alert(1)" }, "expired_url", "</svg>Invalid URL"],
  [{ expired_url: "https://bad.example/" }, "expired_url", "flagged as unsafe"],
  [{ max_clicks: "many" }, "max_clicks", "It must be a whole number."],
  [{ password: "seven 7" }, "password", "It must have at least 8 characters."],
  [{ redirect_code: "303" }, "redirect_code", "It must be one of 301, 302, 307, 308."],
  [rule({ url: "", os: "iOS" }), "rules.0.url", "</svg>Invalid URL"],
  [rule({ device: "fridge" }), "rules.0.when.device", "It must be one or more of mobile"],
  [rule({ query: "=b" }), "rules.0.when.query", "It must have names of 1 to 200 characters."],
  [rule({ to: "now" }), "rules.0.when.to", "It must be a date such as"],
  [rule({}), "rules.0.when", "It needs at least one condition."],
  [
    Object.assign({}, ...Array.from({ length: 21 }, (_, n) => rule({ os: "iOS" }, n))),
    "rules",
    "It must hold at most 20 rules.",
  ],
];

let folder: TemporaryFolder;
let service: TestService;
let people: ReturnType<typeof portalPeople>;
let one: Person;
beforeAll(async () => {
  folder = await temporaryFolder();
  const unsafe = join(folder.path, "unsafe-hosts");
  await writeFile(unsafe, "bad.example\n");
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32", UNSAFE_HOSTS_FILE: unsafe });
  people = portalPeople(service);
  one = await people.developer();
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

/** The options that the log comes to, by which other parts go. */
async function optionsOf(path: string) {
  const [host = "", slug = ""] = path.replace("/portal/links/", "").split("/");
  return carried((await linkHistory(service.backend, undefined, host, slug)).link);
}

const edit = (path: string, typed: Typed, who = one) =>
  who.submit(path, typed as Record<string, string>, `${path}/edit`);

/** Of the message beside an input, or of what stands around several. */
function refusalAt(page: string, name: string): string {
  const ids = [`field-${name}-error`, `${name}-error`];
  const id =
    ids.find((one) => new RegExp(`aria-describedby="[^"]*${RegExp.escape(one)}[" ]`).test(page)) ?? "none";
  return decoded(new RegExp(`id="${RegExp.escape(id)}">([\\s\\S]*?)</p>`).exec(page)?.[1] ?? "");
}

/** What stands in an input for a text. */
function textIn(page: string, name: string): string | undefined {
  return decoded(
    new RegExp(`name="${RegExp.escape(name)}" type="[a-z-]+"\\s+value="([^"]*)"`).exec(page)?.[1] ?? "",
  );
}

function inputOf(page: string, name: string): string {
  return new RegExp(`<input[^>]*name="${RegExp.escape(name)}"[^>]*>`).exec(page)?.[0] ?? "";
}

it("keeps phones from capitals, corrections and spell checks where a text is typed as it is", async () => {
  const path = await people.shorten(one, "https://example.com/");
  const page = (await one.get(path)).text;
  for (const name of ["password", "external_id", "expired_url"])
    expect(inputOf(page, name)).toContain('autocapitalize="none" autocorrect="off" spellcheck="false"');
  expect(inputOf(page, "title")).not.toContain("autocapitalize");
});

/** What a browser sends of the form on a link's page. */
function formOn(page: string): [string, string][] {
  const [, form = ""] = /<form[^>]*\/edit"[^>]*>([\s\S]*?)<\/form>/.exec(page) ?? [];
  const inputs = form.matchAll(
    /<(?:input([^>]*)|textarea([^>]*)>\n?([^<]*)<\/textarea|select([^>]*)>([\s\S]*?)<\/select)>/g,
  );
  return [...inputs].flatMap(([, input, area, text, list, options = ""]): [string, string][] => {
    const attributes = input ?? area ?? list ?? "";
    const [, name = ""] = /name="([^"]+)"/.exec(attributes) ?? [];
    const isSent =
      !attributes.includes("disabled") &&
      (!attributes.includes("checkbox") || attributes.includes("checked"));
    const [, value = ""] =
      /value="([^"]*)"/.exec(input ?? "") ?? /value="([^"]*)" selected/.exec(options) ?? [];
    return isSent ? [[name, decoded(text ?? value)]] : [];
  });
}

const revisionOn = (page: string) => /name="revision" value="(\d+)"/.exec(page)?.[1] ?? "";

describe("what a link carries, in the portal", { timeout: 60_000 }, () => {
  it.each(WRONG.map(([typed, field, why]) => [field, typed, why] as const))(
    "%#: %s is refused beside the input, with what was typed",
    async (field, typed, why) => {
      const path = await people.shorten(one, "https://example.com/");
      const onPage = await edit(path, typed);
      const onNew = await one.post("/portal/links", { url: "https://example.com/new", ...typed });
      for (const { status, text } of [onPage, onNew]) {
        expect([status, refusalAt(text, field)]).toEqual([400, expect.stringContaining(why)]);
        const { group } = fieldRow(field.split(".", 1)[0] as FieldName);
        if (group !== "about") expect(text).toMatch(/<details class="more-options" open/);
        expect(text).not.toContain('class="notice notice-failed"');
        const [name = "", value = ""] = Object.entries(typed)[0] ?? [];
        if (!/comments|query|device|redirect_code/.test(name)) expect(textIn(text, name)).toBe(value);
      }
      expect(await optionsOf(path)).toEqual({});
    },
  );

  it("that is wrong in several inputs is refused beside each", async () => {
    const typed = {
      title: "x".repeat(201),
      max_clicks: "many",
      ...rule({ url: "javascript:x", share: "0" }),
    };
    const { text } = await one.post("/portal/links", { url: "https://example.com/", ...typed });
    for (const [field, why] of [
      ["title", "at most 200"],
      ["max_clicks", "a whole number"],
      ["rules.0.when.share", "over 0"],
    ] as const)
      expect(refusalAt(text, field)).toContain(why);
    expect(text).toMatch(/<details class="rule" open/);
  });

  it("is left alone where a form says nothing of it, or what it was", async () => {
    const all: Record<string, string> = Object.assign({}, ...FIELD_CASES.map(({ typed }) => typed[1]));
    const path = await people.shorten(one, "https://example.com/", { ...all, external_id: "all" });
    const before = await optionsOf(path);
    expect(Object.keys(before)).toHaveLength(FIELD_NAMES.length);
    await edit(path, { url: "https://example.com/b" });
    const { text } = await one.get(path);
    const sent = await one.post(`${path}/edit`, formOn(text));
    const again = revisionOn((await one.get(path)).text);
    expect([sent.status, await optionsOf(path), again]).toEqual([303, before, revisionOn(text)]);
  });

  it("is in the list with title and tags, which find the link", async () => {
    const who = await people.person();
    const [first = "", second = "", third = ""] = [
      await people.shorten(who, "https://example.com/", { title: "Spring <sale>", tags: "a&b, mail" }),
      await people.shorten(who, "https://example.com/", { tags: "mail" }),
      await people.shorten(who, "https://example.com/", { title: "Summer", tags: "mailing" }),
    ];
    const found = async (query: string) => {
      const { text } = await who.get(`/portal/links${query}`);
      return [first, second, third].map((path) => text.includes(`href="${path}"`));
    };
    const { text } = await who.get("/portal/links");
    expect(text).not.toContain("<sale>");
    expect(decoded(text)).toContain(">Spring <sale></a>");
    expect(decoded(text)).toContain('href="/portal/links?tag=a%26b"');
    expect(await found("?tag=a%26b")).toEqual([true, false, false]);
    expect(await found("?tag=mail")).toEqual([true, true, false]);
    expect(await found("?tag=mail&q=sPRING")).toEqual([true, false, false]);
    expect(await found("?q=summer")).toEqual([false, false, true]);
    expect(await found("?tag=")).toEqual([true, true, true]);
    const none = await who.get("/portal/links?tag=none");
    expect([none.text.includes("Nothing found"), textIn(none.text, "tag")]).toEqual([true, "none"]);
  });

  it("has an external id that no other link of the account has, which is refused beside its input", async () => {
    const typed = { external_id: "order-4711" };
    const path = await people.shorten(one, "https://example.com/", typed);
    const another = await people.shorten(one, "https://example.com/");
    for (const { status, text } of [
      await one.post("/portal/links", { url: "https://example.com/", ...typed }),
      await edit(another, typed),
    ]) {
      expect([status, refusalAt(text, "external_id")]).toEqual([
        409,
        expect.stringContaining(`is that of http`),
      ]);
      expect(textIn(text, "external_id")).toBe("order-4711");
    }
    expect((await edit(path, { ...typed, title: "kept" })).status).toBe(200);
    await edit(path, { external_id: "" });
    expect((await edit(another, typed)).status).toBe(200);
  });

  it("can be edited where the API has set as much as it takes", async () => {
    const { key } = await service.issueKey(one.accountId);
    const rules = Array.from({ length: 20 }, (_, n) => ({
      when: { query: { n: `${n}` } },
      url: `https://example.com/?${"&a=b%20".repeat(90)}`,
    }));
    const made = await service.post<{ slug: string }>("/api/v1/shorten", key, {
      url: "https://example.com/",
      rules,
    });
    const path = `/portal/links/localhost/${made.body.slug}`;
    const form = formOn((await one.get(path)).text);
    const sent = form.map(([name, value]): [string, string] => [name, name === "title" ? "long" : value]);
    expect((await one.post(`${path}/edit`, sent)).status).toBe(303);
    const stored = rules.map(({ when, url }) => ({
      ...{ id: expect.any(String), when: { query: Object.entries(when.query) }, url },
    }));
    expect(await optionsOf(path)).toEqual({ title: "long", rules: stored });
    // What is said of it once more, for each of its changes, is short.
    const { text } = await one.get(`${path}/explain`);
    expect(text).toContain("added rule 20 (Query: “n&#61;19”) to https://example.com/?");
    expect(text.length).toBeLessThan(100_000);
  });

  it("has a campaign in its destination, which inputs of their own write, change and take out", async () => {
    const longUrlOf = async (path: string) => {
      const [host = "", slug = ""] = path.replace("/portal/links/", "").split("/");
      return (await linkHistory(service.backend, undefined, host, slug)).link.longUrl;
    };
    const typed = { utm_source: "news letter", utm_medium: "e-mail" };
    const path = await people.shorten(one, "example.com/a?b=%20c#top", typed);
    const made = "https://example.com/a?b=%20c&utm_source=news%20letter&utm_medium=e-mail#top";
    expect(await longUrlOf(path)).toBe(made);
    const { text } = await one.get(path);
    expect([textIn(text, "utm_source"), textIn(text, "utm_term")]).toEqual(["news letter", ""]);
    await one.post(`${path}/edit`, formOn(text));
    expect(await longUrlOf(path)).toBe(made);
    await edit(path, { utm_source: "", utm_medium: "e-mail", utm_term: "shoes" });
    expect(await longUrlOf(path)).toBe("https://example.com/a?b=%20c&utm_medium=e-mail&utm_term=shoes#top");
    const refused = await edit(path, { utm_term: "boots", max_clicks: "many" });
    expect([refused.status, textIn(refused.text, "utm_term")]).toEqual([400, "boots"]);
  });

  it("is in effect for the next visit", async () => {
    const soon = new Date(Date.now() + 1_000).toISOString().replace("Z", "");
    const over = { expires_at: soon, expired_url: URL_TYPED };
    const path = await people.shorten(one, "https://example.com/", over);
    const visit = async () => {
      const { status, headers } = await people.follow(path);
      return [status, headers.location];
    };
    await until("the link to expire", async () => (await visit())[1] === `https://${URL_TYPED}`);
    await edit(path, { title: "of one that is over" });
    expect((await one.get(path)).text).toContain("This link expired on");
    await edit(path, { expires_at: "", password: "open sesame" });
    expect(await visit()).toEqual([401, undefined]);
    await edit(path, { remove_password: "1", ...rule({ query: "ref=*" }) });
    expect(await visit()).toEqual([302, "https://example.com/"]);
    expect((await people.follow(path, {}, "?ref=x")).headers.location).toBe("https://example.com/app");
    await edit(path, rule({ url: "" }));
    expect(await visit()).toEqual([301, "https://example.com/"]);
  });

  it("is edited only as it was seen: a change in between is told, and nothing that was typed or changed is lost", async () => {
    const path = await people.shorten(one, "https://example.com/", { title: "first", tags: "a" });
    const revision = revisionOn((await one.get(path)).text);
    await edit(path, { title: "theirs", url: "https://example.com/theirs" });
    const mine = { revision, title: "first", tags: "a, mine", url: "https://example.com/" };
    const refused = await edit(path, mine);
    expect([refused.status, await optionsOf(path)]).toEqual([412, { title: "theirs", tags: ["a"] }]);
    expect(refused.text).toContain("This link was changed meanwhile");
    const shown = Object.fromEntries(
      ["title", "tags", "url"].map((name) => [name, textIn(refused.text, name)]),
    );
    expect(shown).toEqual({ title: "theirs", tags: "a, mine", url: "https://example.com/theirs" });
    await edit(path, { ...shown, revision: revisionOn(refused.text) });
    expect(await optionsOf(path)).toEqual({ title: "theirs", tags: ["a", "mine"] });
  });

  it("of the Developer plan can't be typed without it, and is refused beside its input", async () => {
    const free = await people.person();
    const { text } = await free.get("/portal/links/new");
    expect(text).toContain('comes with the <a href="/portal/plan">Developer plan</a>');
    for (const name of ["active_from", "expires_at", "expired_url", "max_clicks", "password"])
      expect([name, inputOf(text, name)]).toEqual([name, expect.stringMatching(/\bdisabled\b/)]);
    expect(text).toMatch(/<fieldset[^>]*id="rules"[^>]*disabled>/);
    for (const name of ["title", "tags", "external_id"])
      expect(inputOf(text, name)).not.toMatch(/\bdisabled\b/);
    const typed = { url: "https://example.com/", max_clicks: "5", title: "kept" };
    const refused = await free.post("/portal/links", typed);
    expect([refused.status, refusalAt(refused.text, "max_clicks")]).toEqual([
      402,
      expect.stringContaining("Links with Max clicks require the Developer plan"),
    ]);
    expect(textIn(refused.text, "title")).toBe("kept");
  });

  it("that was set on the Developer plan is kept and cleared without it, and not changed", async () => {
    const was = await people.developer();
    const set = { ...rule({ from: LATER }), max_clicks: "5", password: "open sesame", title: "a" };
    const path = await people.shorten(was, "https://example.com/", set);
    await service.changeTier(was.accountId, "free");
    await until("the Free plan", async () =>
      /name="active_from"[^>]*disabled/.test((await was.get(path)).text),
    );
    const { text } = await was.get(path);
    expect(inputOf(text, "max_clicks")).not.toMatch(/\bdisabled\b/);
    const before = await optionsOf(path);
    const form = formOn(text).map(([name, value]): [string, string] => [
      name,
      name === "title" ? "b" : value,
    ]);
    expect(form).toContainEqual(["rules.0.when.from", LATER]);
    const kept = await was.post(`${path}/edit`, form);
    expect([kept.status, await optionsOf(path)]).toEqual([303, { ...before, title: "b" }]);
    const more = await edit(path, { max_clicks: "6" }, was);
    expect([more.status, refusalAt(more.text, "max_clicks")]).toEqual([
      402,
      expect.stringContaining("Developer plan"),
    ]);
    await edit(path, { ...rule({ url: "" }), max_clicks: "", remove_password: "1" }, was);
    expect(await optionsOf(path)).toEqual({ title: "b" });
  });

  it("has no password on any page, in no event, and its hash in no secret once it is gone", async () => {
    const path = await people.shorten(one, "https://example.com/", { password: "first secret word" });
    const { passwordId } = await optionsOf(path);
    for (const at of [path, `${path}/explain`, "/portal/links"])
      expect((await one.get(at)).text).not.toContain("first secret word");
    const hashOf = () => service.backend.secrets.get(linkPasswordSecret(passwordId ?? ""), new Date());
    expect(await hashOf()).toMatch(/^\$argon2id\$/);
    await edit(path, { password: "second secret word" });
    expect(await hashOf()).toBeUndefined();
  });

  it("is explained in words, with what was cleared", async () => {
    const path = await people.shorten(one, "https://example.com/");
    await edit(path, { title: "Spring", tags: "a, b" });
    await edit(path, { title: "" });
    const { text } = await one.get(`${path}/explain`);
    expect(text).toContain("You set the title to “Spring”; set the tags to “a”, “b”.");
    expect(text).toContain("You removed the title “Spring”.");
  });

  it("can be edited by nobody else, and not while the operator blocks the link", async () => {
    const path = await people.shorten(one, "https://example.com/", { title: "mine" });
    const other = await people.person();
    expect((await edit(path, { title: "theirs" }, other)).status).toBe(404);
    const [host = "", slug = ""] = path.replace("/portal/links/", "").split("/");
    const deps = { ...runtimeDeps, eventStore: service.backend.eventStore };
    await blockLink(deps, operator, { host, slug }, { reason: "phishing", legal: false });
    const blocked = await edit(path, { title: "mine, too" });
    expect([blocked.status, blocked.text.includes("blocked this link: phishing")]).toEqual([409, true]);
    expect(await optionsOf(path)).toEqual({ title: "mine" });
  });
});
