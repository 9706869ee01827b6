// Links in the portal over real HTTP, without scripts: create, search, change, delete, restore, and access by others.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { slugFrom } from "../../../src/commands/links/slug.ts";
import { decoded, FIREFOX, visitor } from "../../support/portal/browser-like.ts";
import { portalPeople } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const LINK_PATH = /href="(\/portal\/links\/[^/"]+\/[^/"?]+)"/;

let service: TestService;
let people: ReturnType<typeof portalPeople>;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  people = portalPeople(service);
});
afterAll(() => service.stop());

describe("links in the portal", { timeout: 60_000 }, () => {
  it("are created from a URL alone, work immediately, and are listed", async () => {
    const one = await people.person();
    const empty = await one.get("/portal/links");
    expect(empty.text).toContain("No links yet");
    const path = await people.shorten(one, "https://example.com/a?b=1&c=2");
    const page = await one.get(path);
    expect(page.text).toContain("is ready");
    expect(decoded(page.text)).toContain(`src="/api/qr/${path.split("/").at(-1)}?format=svg`);
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
    expect(events[0]?.metadata.actor).toEqual({ type: "account", id: one.accountId });
  });

  it("have slugs that nobody can choose by choosing what the form is sent with", async () => {
    const one = await people.person();
    const given = { url: "https://example.com/chosen", domain: "", slug: "" };
    // The slug that a plain hash of the form's values would give, which the sender could compute.
    const hashed = (once: string) => {
      const scope = JSON.stringify(["web", one.accountId, once, given]);
      return slugFrom(
        createHash("sha256")
          .update(JSON.stringify(["slug", 0, scope, 0]))
          .digest(),
      );
    };
    let n = 0;
    while (!hashed(`${n}`)?.startsWith("bad")) n += 1;
    const path = await people.shorten(one, given.url, { once: `${n}` });
    expect(path.split("/").at(-1)).not.toMatch(/^bad/);
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

  it("are refused beside the field, with what was typed kept", async () => {
    const one = await people.person();
    const refused = await one.post("/portal/links", {
      url: `ftp://x/"><script>alert(1)</script>`,
    });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('id="field-url-error"');
    expect(decoded(refused.text)).toContain("ftp://x/");
    expect(refused.text).not.toContain("<script>alert");
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
      expect(answer.text).toContain(`id="field-slug" name="slug" type="text"\nvalue="${fields.slug}"`);
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
    const last = (await one.get(to(first, "Last"))).text;
    expect([first, second, last].map((text) => numbers(text).length)).toEqual([50, 50, 20]);
    expect(new Set([first, second, last].flatMap(numbers)).size).toBe(120);
    expect(numbers((await one.get(to(last, "Previous"))).text)).toEqual(numbers(second));
    expect(numbers((await one.get(to(last, "First"))).text)).toEqual(numbers(first));
    expect([to(first, "Previous"), to(last, "Next")]).toEqual(["", ""]);
    // To any page by its number, with what was searched for.
    expect(second).toContain('<input type="hidden" name="q" value="sPRING">');
    expect(second).toMatch(/name="page" type="number" min="1" max="3" value="2"[\s\S]*of 3/);
    expect(numbers((await one.get("/portal/links?q=sPRING&page=99")).text)).toEqual(numbers(last));
    expect(numbers((await one.get("/portal/links?q=sPRING&page=x")).text)).toEqual(numbers(first));
    expect((await one.get("/portal/links?page=3")).text).toContain("of 3");
    expect((await one.get("/portal/links?q=page-77")).text).toContain("page-77");
    expect((await one.get("/portal/links?q=nowhere")).text).toContain("Nothing found");
    expect((await one.get("/portal/links?show=disabled")).text).toContain("None of your links is disabled");
  });

  it("are retargeted, disabled, deleted and restored, with all of it in their history", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/old");
    const status = async () => (await people.follow(path)).status;
    await one.submit(path, { url: "https://example.com/new" }, `${path}/destination`);
    expect((await people.follow(path)).headers.location).toBe("https://example.com/new");

    const disabled = await one.submit(path, {}, `${path}/disable`);
    expect([disabled.text.includes(">Disabled</span>"), await status()]).toEqual([true, 404]);
    expect((await one.get("/portal/links?show=disabled")).text).toContain(`href="${path}"`);
    await one.submit(path, {}, `${path}/enable`);
    expect(await status()).toBe(301);

    const deleted = await one.submit(path, {}, `${path}/delete`);
    expect([deleted.text.includes("Restore link"), await status()]).toEqual([true, 404]);
    expect((await one.get("/portal/links")).text).not.toContain(`href="${path}"`);
    expect((await one.get("/portal/links?show=deleted")).text).toContain(`href="${path}"`);
    expect((await one.get("/portal/links")).text).toContain("All your links are deleted");
    await one.submit(path, {}, `${path}/restore`);
    expect(await status()).toBe(301);

    const { text } = await one.get(path);
    const steps = [...text.matchAll(/<li><div><strong>([^<]+)<\/strong>/g)].map((found) => found[1]);
    expect(steps).toEqual(["Restored", "Deleted", "Enabled", "Disabled", "Destination changed", "Created"]);
    expect(text).toContain("in the portal");
  });

  it("that were disabled are disabled when they are restored", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/old");
    for (const change of ["disable", "delete"]) await one.submit(path, {}, `${path}/${change}`);
    const question = decoded((await one.get(path)).text);
    expect(question).toContain("Restored, the link is what it was before it was deleted");
    const restored = await one.submit(path, {}, `${path}/restore`);
    expect(restored.text).toContain(">Disabled</span>");
    expect((await people.follow(path)).status).toBe(404);
    await one.submit(path, {}, `${path}/enable`);
    expect((await people.follow(path)).status).toBe(301);
  });

  it("ask before they are deleted, say that they can be restored, and let one think better of it", async () => {
    const one = await people.person();
    const { text } = await one.get(await people.shorten(one, "https://example.com/"));
    const [, id = ""] = /popovertarget="([^"]+)">Delete</.exec(text) ?? [];
    const [, box = ""] = new RegExp(`id="${id}" popover([\\s\\S]*?)</div>`).exec(text) ?? [];
    expect(box).toContain("You can restore it at any time");
    expect(box).toContain(`popovertarget="${id}" popovertargetaction="hide">Cancel<`);
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
    const refused = await one.submit(path, { url: "javascript:alert(1)" }, `${path}/destination`);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('id="field-url-error"');
    expect(refused.text).toContain('value="javascript:alert(1)"');
    expect((await people.follow(path)).headers.location).toBe("https://example.com/old");
    await one.submit(path, { url: "example.com/new" }, `${path}/destination`);
    expect((await people.follow(path)).headers.location).toBe("https://example.com/new");
  });

  it("of another account are not found, whatever is tried, and nothing happens to them", async () => {
    const owner = await people.person();
    const path = await people.shorten(owner, "https://example.com/mine");
    const stranger = await people.person();
    for (const below of ["", "/analytics", "/live", "/clicks.csv"])
      expect((await stranger.get(path + below)).status, below).toBe(404);
    for (const below of ["destination", "disable", "enable", "delete", "restore"]) {
      const fields = { url: "https://evil.example/" };
      expect((await stranger.post(`${path}/${below}`, fields)).status, below).toBe(404);
    }
    expect((await people.follow(path)).headers.location).toBe("https://example.com/mine");
    expect((await stranger.get("/portal/links?q=mine")).text).not.toContain(path);
  });

  it("ask for signing in first", async () => {
    const owner = await people.person();
    const path = await people.shorten(owner, "https://example.com/mine");
    const nobody = visitor(service.port);
    for (const at of ["/portal", "/portal/links", path, `${path}/analytics`, `${path}/live`]) {
      const { status, headers } = await nobody.get(at);
      expect([status, headers.location]).toEqual([303, `/portal/sign-in?next=${encodeURIComponent(at)}`]);
    }
    expect(LINK_PATH.test((await owner.get("/portal/links")).text)).toBe(true);
  });
});
