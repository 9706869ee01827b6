// Colleagues in one account, in the portal and by the API: invited, joined, held to their roles, removed; and what a link
// that was made for somebody else does not do.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KEY_SCOPES, ROLES, type Role } from "../../../src/events/vocabulary.ts";
import { withoutAccount } from "../../../src/portal/account-address.ts";
import { mayAsk } from "../../../src/portal/route-rights.ts";
import { issuedKey, PASSWORD, type Visitor, visitor } from "../../support/portal/browser-like.ts";
import { invite, join as joinAs, partsOf, personIn } from "../../support/portal/colleagues.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { stretched } from "../../support/runtime/slowness.ts";
import { eventStream } from "../../support/service/event-stream.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

type Colleague = Visitor & { personId: string; email: string };

let service: TestService;
let people: ReturnType<typeof portalPeople>;
let addresses = 0;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "loopback" });
  people = portalPeople(service);
});
afterAll(() => service.stop());

const newcomer = () => visitor(service.port, { address: `203.0.113.${++addresses}` });

async function join(by: Visitor, email: string, role: Role): Promise<Colleague> {
  const one = newcomer();
  return { ...one, personId: await joinAs(by, one, email, role), email };
}

describe("members", () => {
  let owner: Person;
  beforeAll(async () => {
    owner = await people.developer();
  });

  it("are invited, make links, are told apart in the list, are lowered, and are removed at once with their key", async () => {
    const editor = await join(owner, "editor@example.com", "editor");
    const path = await people.shorten(editor, "https://example.com/by-the-editor");
    expect((await owner.get(path)).status).toBe(200);
    const key = await issuedKey(editor);
    const shorten = () => service.post("/api/v1/shorten", key, { url: "https://example.com/by-the-key" });
    expect((await shorten()).status).toBe(201);
    expect((await owner.get("/portal/members")).text).toContain("editor@example.com");

    expect((await owner.get(path)).text).toMatch(/<strong>editor@example.com<\/strong> created this link/);
    expect((await editor.get(path)).text).toMatch(/<strong>You<\/strong> created this link/);

    const madeBy = async (id: string) => (await owner.get(`/portal/links?made_by=${id}`)).text;
    expect(await madeBy(editor.personId)).toContain("by editor@example.com");
    expect(await madeBy(owner.accountId)).toContain("Nothing found");

    await owner.submit("/portal/members", { role: "viewer" }, `/portal/members/${editor.personId}/role`);
    const refused = await editor.post("/portal/links", { url: "https://example.com/too-late" });
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining("Your role in this account"),
    ]);
    expect((await editor.get(path)).status).toBe(200);
    expect((await editor.get("/portal/keys")).status).toBe(403);
    await expect.poll(async () => (await shorten()).body, POLL).toMatchObject({ code: "not_permitted" });
    expect((await service.ask("/api/v1/links", { key })).status).toBe(200);

    await owner.submit("/portal/members", {}, `/portal/members/${editor.personId}/remove`);
    expect((await editor.get(path)).headers.location).toBe("/portal/accounts");
    expect((await editor.get("/portal/accounts")).text).toContain("You are a member of no account");
    await expect.poll(async () => (await service.ask("/api/v1/links", { key })).status, POLL).toBe(401);
    const page = await editor.get(`/portal/${owner.accountId}/members`);
    expect([page.status, page.text]).toEqual([403, expect.stringContaining("not a member of this account")]);
    expect(page.text).not.toContain(owner.email);
  });

  it("lose their open pages and the streams of their keys within two seconds of being removed", async () => {
    const editor = await join(owner, "streams@example.com", "editor");
    const key = await issuedKey(editor);
    const open = (path: string, headers: Record<string, string>) => eventStream(service.port, path, headers);
    const page = await open("/portal/live", { cookie: editor.cookie() });
    const feed = await open("/api/v1/events/stream", { "x-api-key": key });
    expect([page.status, feed.status]).toEqual([200, 200]);
    for (const stream of [page, feed]) expect(await stream.next("alive")).toBeDefined();
    await owner.submit("/portal/members", {}, `/portal/members/${editor.personId}/remove`);
    const since = Date.now();
    for (const stream of [page, feed]) expect(await stream.next("never")).toBeUndefined();
    expect(Date.now() - since).toBeLessThan(stretched(2_000));
  });

  it("of several accounts choose which one to look at, and end in none by leaving", async () => {
    const guest = await people.person();
    const path = await invite(owner, guest.email.toUpperCase(), "viewer");
    const page = await guest.get(path);
    // Its address is told to no other site; with no-referrer its form would have no Origin that says it is of this site.
    expect(page.headers["referrer-policy"]).toBe("same-origin");
    expect((await guest.submit(path, partsOf(path), "/portal/invitation/accept")).status).toBe(200);
    expect((await guest.get("/portal/keys")).status).toBe(403);
    const choice = await guest.get("/portal/accounts");
    expect(choice.text.match(/Open now/g)).toHaveLength(1);
    const keysOf = async ({ accountId }: Person) => (await guest.get(`/portal/${accountId}/keys`)).status;
    // Two tabs in two accounts.
    for (const _ of [1, 2]) expect([await keysOf(guest), await keysOf(owner)]).toEqual([200, 403]);
    expect((await guest.get("/portal/links")).text).toContain(`aria-label="Your accounts"`);
    expect((await guest.post(`/portal/${owner.accountId}/account/leave`)).headers.location).toBe(
      "/portal/accounts",
    );
    await guest.get(`/portal/${guest.accountId}`);
    const leaving = await guest.submit("/portal/account/leave", {});
    expect(leaving.text).toContain("This is the last owner of the account");
    expect((await guest.get("/portal/keys")).status).toBe(200);
  });

  it("are not made of whoever opens the link: it is looked at, mailed again, withdrawn, and spent once", async () => {
    const other = await people.person();
    const path = await invite(owner, "invited@example.com", "admin");
    for (const _ of [1, 2]) expect((await newcomer().get(path)).status).toBe(200);
    const mismatch = await other.get(path);
    expect(mismatch.text).toContain("invited@example.com");
    expect(mismatch.text).toContain(other.email);
    expect((await other.post("/portal/invitation/accept", partsOf(path))).status).toBe(403);

    const again = await invite(owner, "Invited@example.com", "editor");
    expect((await newcomer().get(path)).status).toBe(404);
    const one = newcomer();
    const taken = { ...partsOf(again), password: PASSWORD };
    expect((await one.post("/portal/invitation", { ...taken, password: "short" })).status).toBe(400);
    expect((await one.post("/portal/invitation", taken)).status).toBe(303);
    expect((await newcomer().post("/portal/invitation", taken)).status).toBe(404);

    const late = await invite(owner, "late@example.com", "editor");
    const id = String(partsOf(late).id);
    await owner.submit("/portal/members", {}, `/portal/members/invitations/${id}/withdraw`);
    expect((await newcomer().get(late)).status).toBe(404);
    const asked = await newcomer().post("/portal/invitation", { ...partsOf(late), password: PASSWORD });
    expect(asked.status).toBe(404);
  });

  it("invite nobody above themselves, and an invitation is void once its sender was lowered", async () => {
    const admin = await join(owner, "admin@example.com", "admin");
    const above = await admin.post("/portal/members", { email: "x@example.com", role: "owner" });
    expect([above.status, above.text]).toEqual([403, expect.stringContaining("above their own")]);
    const path = await invite(admin, "friend@example.com", "admin");
    await owner.submit("/portal/members", { role: "editor" }, `/portal/members/${admin.personId}/role`);
    expect((await newcomer().get(path)).status).toBe(404);
    const sent = await newcomer().post("/portal/invitation", { ...partsOf(path), password: PASSWORD });
    expect(sent.status).toBe(404);
  });

  it("who are in no account any more open one of their own, once", async () => {
    const one = await join(owner, "alone@example.com", "viewer");
    expect((await one.post("/portal/accounts")).status).toBe(409);
    await one.post("/portal/account/leave");
    expect((await one.get("/portal/accounts")).text).toContain("open an account of your own");
    const opened = await one.submit("/portal/accounts", {});
    expect([opened.status, opened.text]).toEqual([200, expect.stringContaining("you are its owner")]);
    const path = await people.shorten(one, "https://example.com/of-their-own");
    expect((await one.get(path)).status).toBe(200);
    expect((await owner.get(path)).status).toBe(404);
    expect((await one.get("/portal/plan")).status).toBe(200);
    expect((await one.post("/portal/accounts")).status).toBe(409);
    const closing = await one.submit("/portal/account", { password: PASSWORD }, "/portal/account/close");
    expect(closing.text).toContain("Your account is closed");
    expect((await newcomer().post("/portal/sign-in", { email: one.email, password: PASSWORD })).status).toBe(
      401,
    );
  });

  it("keep an owner, whatever two owners do to each other and to themselves at once", async () => {
    for (const act of ["remove", "lower", "leave"] as const) {
      const first = await people.developer();
      const second = await join(first, `second-${act}@example.com`, "owner");
      const both = [
        { one: first, id: first.accountId, other: second.personId },
        { one: second, id: second.personId, other: first.accountId },
      ];
      await Promise.all(
        both.map(({ one, other }) =>
          act === "leave"
            ? one.post(`/portal/${first.accountId}/account/leave`)
            : one.post(
                `/portal/${first.accountId}/members/${other}/${act === "remove" ? "remove" : "role"}`,
                act === "lower" ? { role: "viewer" } : {},
              ),
        ),
      );
      const owners = await Promise.all(
        both.map(async ({ one }) => (await one.get(`/portal/${first.accountId}/plan`)).status),
      );
      expect([act, owners.toSorted()]).toEqual([act, [200, 403]]);
    }
  });

  it("by the API: with the scope alone, within the rights of the key", async () => {
    const email = "by-the-api@example.com";
    const { key: usual } = await service.issueKey(owner.accountId);
    expect((await service.ask("/api/v1/members", { key: usual })).body).toMatchObject({
      code: "missing_scope",
    });
    const { key } = await service.issueKey(owner.accountId, { scopes: KEY_SCOPES });
    const post = (role: Role) =>
      service.post<{ link: string; invitation_id: string }>("/api/v1/invitations", key, { email, role });
    expect(await post("owner")).toMatchObject({ status: 403, body: { code: "role_too_high" } });
    const invited = await post("viewer");
    expect(invited.status).toBe(201);
    const path = new URL(invited.body.link).pathname + new URL(invited.body.link).search;
    const one = newcomer();
    await one.submit(path, { ...partsOf(path), password: PASSWORD }, "/portal/invitation");
    const personId = personIn(one);
    const list = await service.ask<{ members: object[] }>("/api/v1/members", { key });
    expect(list.body.members).toContainEqual(
      expect.objectContaining({ person_id: personId, email, role: "viewer" }),
    );
    const member = `/api/v1/members/${personId}`;
    const changed = await service.ask(member, { method: "PATCH", key, body: { role: "editor" } });
    expect(changed).toMatchObject({ status: 200, body: { role: "editor" } });
    const ofOwner = `/api/v1/members/${owner.accountId}`;
    expect((await service.ask(ofOwner, { method: "DELETE", key })).body).toMatchObject({
      code: "role_too_high",
    });
    expect((await service.ask(member, { method: "DELETE", key })).status).toBe(204);
    expect((await one.get("/portal/links")).headers.location).toBe("/portal/accounts");
  });
});

const POLL = { timeout: stretched(2_000), interval: 20 };

describe("every page of the portal", () => {
  it("offers each role the forms and pages that it may send and open, and each page leads on in its account", async () => {
    const owner = await people.developer();
    const path = await people.shorten(owner, "https://example.com/", { tags: "spring" });
    await owner.submit("/portal/webhooks", { url: "https://example.org/hook" });
    const roles = new Map<Role, Visitor>([["owner", owner]]);
    for (const role of ROLES.slice(1)) roles.set(role, await join(owner, `offer-${role}@example.com`, role));
    const names = "tags members account analytics keys webhooks plan domains shared proof links links/new";
    const pages = ["", path.slice("/portal".length), ...names.split(" ").map((name) => `/${name}`)];
    const offers = new Map<Role, Set<string>>();
    for (const [role, one] of roles) {
      const own = new Set<string>();
      for (const page of pages) {
        const raw = await service.ask(`/portal/${owner.accountId}${page}`, {
          headers: { accept: "text/html", cookie: one.cookie() },
        });
        if (raw.status === 403) continue;
        const forms = [...raw.text.matchAll(/<form\b[^>]*method="post"[^>]*action="([^"]+)"/g)];
        const links = [...raw.text.matchAll(/<a\b[^>]*href="(\/portal[^"]*)"/g)];
        for (const [, to = ""] of [...forms, ...links])
          if (!/accounts|theme|sign-out|export/.test(to))
            expect([page, to]).toEqual([page, expect.stringContaining(owner.accountId)]);
        for (const [, to = ""] of links)
          expect([role, to, mayAsk(role, "GET", withoutAccount(to))]).toEqual([role, to, true]);
        for (const [, to = ""] of forms) {
          expect([role, to, mayAsk(role, "POST", withoutAccount(to))]).toEqual([role, to, true]);
          own.add(withoutAccount(to));
        }
        expect(raw.text).not.toMatch(/<details\b[^>]*><summary[^>]*>[^<]*<\/summary>\s*<\/details>/);
      }
      offers.set(role, own);
    }
    const [all, ...lower] = [...offers.values()];
    expect(all?.size).toBeGreaterThan(15);
    for (const some of lower) expect([...some].filter((to) => !all?.has(to))).toEqual([]);
    expect([...(offers.get("viewer") ?? [])].filter((to) => /links|tags|members|brand/.test(to))).toEqual([]);
    expect([...(offers.get("editor") ?? [])]).toContain(`${path}/edit`);
  });
});
