// The form of a link without scripts: buttons come back with it changed, nothing saved, and say what the link will be; whether a
// slug is free, as far as strangers may know; campaigns of earlier links are offered.
import { beforeAll, describe, expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, peopledService } from "../../support/portal/portal-people.ts";

const { people } = peopledService({ BASE_HOST_SLUGS: "true" });
let one: Person;
beforeAll(async () => {
  one = await people.developer();
});

type Typed = Record<string, string>;
const HALF: Typed = {
  "rules.0.url": "example.com/b",
  "rules.0.when.share": "50",
  "rules.0.name": "Variant B",
};
const GERMANS: Typed = { "rules.1.url": "example.com/de", "rules.1.when.country": "de" };

const draft = async (typed: Typed, path = "/portal/links/new") => {
  const answer = await one.post(path, { url: "example.com/", ...typed });
  return { ...answer, text: decoded(answer.text) };
};
/** What stands beside the form, in a line. */
function planIn(page: string): string {
  const [, plan = ""] = /<div id="link-plan">([\s\S]*?)<\/section>/.exec(page) ?? [];
  return plan.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim(); // biome-ignore format: a line
}
const slugWords = (page: string) =>
  /<div id="slug-state" role="status">(?:<span[^>]*>([^<]*)<)?/.exec(page)?.[1] ?? "";
const rulesIn = (page: string) =>
  [...page.matchAll(/name="rules\.\d+\.url"[^>]*value="([^"]*)"/g)].map(([, url]) => url);

describe("the form of a link", { timeout: 60_000 }, () => {
  it("says whom each rule gets, and what is left for the link", async () => {
    const { status, text } = await draft({ ...HALF, ...GERMANS, act: "show" });
    expect(status).toBe(200);
    expect(planIn(text)).toContain("Variant B : 50 % of visitors to https://example.com/b");
    expect(planIn(text)).toContain("B : 50 % of visitors (Countries: DE) to https://example.com/de");
    expect(planIn(text)).toContain("Everybody else : 50 % of them to https://example.com/");
  });

  it("says until when, how often and for whom it leads, beside each switch, too", async () => {
    const more = { expires_at: "2099-12-24T18:30", expired_url: "example.com/over", max_clicks: "100" };
    const { text } = await draft({ ...more, password: "open sesame", utm_source: "mail", act: "show" });
    const expires = "Expires on 2099-12-24 18:30 UTC , then it leads to https://example.com/over";
    expect(planIn(text)).toContain(expires);
    expect(planIn(text)).toContain("After 100 clicks of people it leads to https://example.com/over");
    expect(planIn(text)).toContain("Visitors are asked for a password");
    expect(planIn(text)).toContain("https://example.com/?utm_source=mail");
    const [, words = ""] = /id="set-schedule">([\s\S]*?)<\/span>/.exec(text) ?? [];
    expect(words.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ")).toContain(expires);
  });

  it("has rules that buttons add, move and remove; nothing is saved, and nothing typed is lost", async () => {
    const before = (await one.get("/portal/links")).text.match(/class="listed-title"/g)?.length ?? 0;
    const added = await draft({ ...HALF, act: "add" });
    expect(rulesIn(added.text)).toEqual(["example.com/b", ""]);
    expect(planIn(added.text)).toContain("B : not complete yet");
    expect(rulesIn((await draft({ ...HALF, ...GERMANS, act: "up.1" })).text)).toEqual([
      "example.com/de",
      "example.com/b",
    ]);
    expect(rulesIn((await draft({ ...HALF, ...GERMANS, act: "remove.0" })).text)).toEqual(["example.com/de"]);
    expect(added.text).toContain('name="url" type="text" value="example.com/"');
    expect((await one.get("/portal/links")).text.match(/class="listed-title"/g)?.length ?? 0).toBe(before);
    const path = await people.shorten(one, "https://example.com/", HALF);
    const edited = await draft({ ...HALF, ...GERMANS, act: "down.0" }, `${path}/draft`);
    expect(rulesIn(edited.text)).toEqual(["example.com/de", "example.com/b"]);
    expect(rulesIn(decoded((await one.get(path)).text))).toEqual(["https://example.com/b"]);
  });

  it("of a link keeps what is typed as it was before the last change", async () => {
    const path = await people.shorten(one, "https://example.com/", { title: "first" });
    await one.post(`${path}/edit`, { url: "https://example.com/other", title: "second", ...HALF });
    const page = decoded((await one.get(path)).text);
    expect(rulesIn(page)).toEqual(["https://example.com/b"]);
    const [, revision = ""] = /name="revision" value="(\d+)"/.exec(page) ?? [];
    const typed = { revision, url: "https://example.com/", title: "first", rules: "", act: "add" };
    const { text } = await draft(typed, `${path}/draft`);
    expect(text).toMatch(/name="title"[^>]*value="first"/);
    expect(text).toMatch(/name="url"[^>]*value="https:\/\/example.com\/"/);
    expect(rulesIn(text)).toEqual([""]);
    // As its last rule was removed.
    const { text: emptied } = await draft({ revision, ...HALF, act: "remove.0" }, `${path}/draft`);
    expect([rulesIn(emptied), emptied.includes('name="rules" value=""')]).toEqual([[], true]);
    await one.post(`${path}/edit`, { revision, rules: "" });
    expect(rulesIn(decoded((await one.get(path)).text))).toEqual([]);
  });

  it("shows nothing of another's link, and no script of what is typed", async () => {
    const other = await people.developer();
    const path = await people.shorten(other, "https://example.com/secret", { title: "Secret" });
    const foreign = await draft({ act: "show" }, `${path}/draft`);
    expect([foreign.status >= 403, foreign.text.includes("Secret")]).toEqual([true, false]);
    const hostile = await one.post("/portal/links/new", {
      url: "javascript:alert(1)",
      title: "<script>",
      act: "show",
    });
    expect([hostile.status, /<script>|href="javascript/.test(hostile.text)]).toEqual([200, false]);
  });

  it("says whether a slug is free, taken, or can't be had, and nothing of whose it is", async () => {
    const other = await people.developer();
    await people.shorten(other, "https://example.com/secret", { slug: "summer-sale", title: "Secret" });
    const words = async (slug: string) => slugWords((await draft({ slug, act: "show" })).text);
    expect(await words("Summer-Sale")).toBe("This slug is taken");
    expect(await words("winter-sale")).toBe("This slug is free");
    expect(await words("api")).toContain("api is reserved");
    expect(await words("a b")).toContain("Invalid custom slug");
    expect((await draft({ slug: "summer-sale", act: "show" })).text).not.toContain("Secret");
    const random = (await draft({ act: "random" })).text;
    expect(random).toMatch(/name="slug" type="text" value="[a-z2-9]{7}"/);
    expect(slugWords(random)).toBe("This slug is free");
  });

  it("is no way to list others' slugs: look-ups are counted, and said no more of", async () => {
    const prober = await people.developer();
    const words = async (slug: string, known = "") =>
      slugWords(
        decoded((await prober.post("/portal/links/new", { slug, slug_known: known, act: "show" })).text),
      );
    for (let n = 0; n < 120; n += 1) expect(await words(`probe-${n}`)).toBe("This slug is free");
    expect(await words("summer-sale")).toBe("Whether it is free is said when the link is made");
    expect(await words("probe-1", "localhost/probe-1 toString")).toContain("Whether it is free");
    // What the form has said already costs nothing.
    expect(await words("probe-1", "localhost/probe-1 free")).toBe("This slug is free");
    expect(
      (await prober.post("/portal/links", { url: "https://example.com/", slug: "probe-1" })).status,
    ).toBe(303);
  });

  it("offers the campaigns of the account's links, and of nobody else's", async () => {
    const [mine, theirs] = [await people.developer(), await people.developer()];
    await people.shorten(mine, "https://example.com/?utm_source=news%20letter", { utm_medium: "e-mail" });
    await people.shorten(theirs, "https://example.com/?utm_source=theirs");
    const { text } = await mine.get("/portal/links/new");
    expect(text).toMatch(/list="known-source"/);
    expect(decoded(text)).toContain('<datalist id="known-source"><option value="news letter"></datalist>');
    expect(decoded(text)).toContain('<datalist id="known-medium"><option value="e-mail"></datalist>');
    expect(text).not.toContain("theirs");
  });
});
