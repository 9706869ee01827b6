// Changing several links of the portal's list with one form: by the same rules, limits and notices as one by one.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const CHANGES = 50;

let service: TestService;
let people: ReturnType<typeof portalPeople>;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  people = portalPeople(service);
});
afterAll(() => service.stop());

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
    const list = (await one.get("/portal/links?show=deleted")).text;
    expect([list.includes("Restore chosen"), list.includes('value="delete"')]).toEqual([true, false]);
    const restored = await change(one, "restore", some, "?show=deleted");
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
    expect(some.text).toContain(": You have made 50 changes within an hour");
    const none = await change(one, "disable", paths.slice(0, 1));
    expect([none.status, none.headers["retry-after"]]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(none.text).toMatch(new RegExp(`value="${keyOf(paths[0] ?? "")}"[^>]*checked`));
  });

  it("are at most as many as a page shows", async () => {
    const one = await people.person();
    await makeLinks(one, 1);
    const many = Array.from({ length: 51 }, (_, n) => `/portal/links/localhost/many${n}`);
    expect((await change(one, "delete", many)).status).toBe(400);
  });
});
