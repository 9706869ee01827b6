// Operators who are people, without ADMIN_TOKEN: who is let into the console, who is named for what they did there; and people
// as the console lists them, signs them out and removes them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CATEGORY } from "../../../src/events/streams.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { visitor } from "../../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

describe("people in the console", () => {
  let service: TestService;
  let cli: ReturnType<typeof commandLine>;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let operator: Person;
  let person: Person;
  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startTestService({ DATA_DIR: folder.path, TRUST_PROXY: "loopback" });
    cli = commandLine(folder.path);
    const people = portalPeople(service);
    [operator, person] = [await people.person(), await people.person()];
    await cli.json("person", "operator", operator.email, "on");
  });
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  const actorsOf = async (type: string) =>
    (await loggedEvents(service.backend.eventStore, { categories: Object.values(CATEGORY), limit: 10_000 }))
      .filter((event) => event.type === type)
      .map(({ metadata }) => metadata.actor);
  const here = () => ({ type: "operator", id: operator.accountId });

  it("is opened by a marked person's own session, and is not there for anybody else", async () => {
    const led = async (one: Person) => (await one.get("/portal/accounts")).text.includes('href="/admin"');
    expect([await led(operator), await led(person)]).toEqual([true, false]);
    expect((await operator.get("/admin")).status).toBe(200);
    expect((await operator.get("/admin/api/accounts")).status).toBe(200);
    for (const one of [person, visitor(service.port)])
      for (const path of ["/admin", "/admin/sign-in", "/admin/people", "/admin/api/accounts"])
        expect([path, (await one.get(path)).status]).toEqual([path, 404]);
    expect((await person.post(`/admin/people/${operator.accountId}/remove`)).status).toBe(404);
  });

  it("holds who did what there", async () => {
    await operator.submit(`/admin/accounts/${person.accountId}`, { act: "tier", tier: "developer" });
    expect(await actorsOf("TierChanged")).toEqual([here()]);
    await operator.post("/admin/verification");
    await expect.poll(() => actorsOf("LogVerified")).toEqual([here()]);
    const found = await cli.json("audit", "find", "--actor", "operator", "--type", "TierChanged");
    expect(found.events).toMatchObject([{ actor: `operator:${operator.accountId}` }]);
    expect((await operator.get("/admin")).text).toContain(`operator ${operator.email}`);
  });

  it("is found by a part of a name or address, in any case, or by an id", async () => {
    await person.post("/portal/profile/name", { name: "Kim Ångström" });
    const page = async (find: string) =>
      (await operator.get(`/admin/people?find=${encodeURIComponent(find)}`)).text;
    for (const find of ["ångström", person.email.toUpperCase(), person.accountId]) {
      const text = await page(find);
      expect(text).toContain("Kim Ångström");
      expect(text).not.toContain(`<strong>${operator.email}</strong>`);
    }
    expect(await page("person-")).toMatch(/not proven.*<\/time> by password/s);
    expect((await page(operator.email)).match(/>Operator</g)).toHaveLength(1);
    expect(await page("nobody@example.com")).toContain("Nobody.");
  });

  it("signs somebody out everywhere, and removes them for good", async () => {
    const path = `/admin/people/${person.accountId}`;
    expect((await person.get("/portal")).status).toBe(200);
    await operator.submit("/admin/people", {}, `${path}/end-sessions`);
    expect((await person.get("/portal")).status).toBe(303);
    expect(await actorsOf("SessionsEnded")).toEqual([here()]);
    const refused = await operator.submit("/admin/people", {}, `${path}/remove`);
    expect(refused.text).toContain("They are the last owner of account");

    const member = await cli.json(
      "member",
      "invite",
      operator.email,
      "--account",
      person.accountId,
      "--role",
      "owner",
    );
    const link = new URL(String(member.link));
    const sent = Object.fromEntries(link.searchParams);
    await operator.submit(link.pathname + link.search, sent, "/portal/invitation/accept");
    const removed = await operator.submit("/admin/people", {}, `${path}/remove`);
    expect(removed.text).toContain("a former member");
    expect(removed.text).not.toContain(person.email);
    expect(await actorsOf("PersonRemoved")).toEqual([here()]);
  });

  it("ends for an operator with the mark, and with the sign-out", async () => {
    expect((await operator.submit("/admin/sign-out", {})).text).toContain("You are signed out.");
    expect((await operator.get("/portal")).status).toBe(303);
    await operator.submit("/portal/sign-in", { email: operator.email, password: "seven brown foxes" });
    expect((await operator.get("/admin")).status).toBe(200);
    await cli.json("person", "operator", operator.email, "off");
    expect((await operator.get("/admin")).status).toBe(404);
    expect((await operator.get("/portal")).status).toBe(200);
  });
});
