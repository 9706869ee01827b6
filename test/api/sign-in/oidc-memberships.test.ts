// What people of a provider become here: by groups, by invitations, by OIDC_JOIN; and which ways of signing in are on.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { open, opened } from "../../../src/commands/account/account.ts";
import { changeAccount, loadAccount } from "../../../src/commands/account/account-stream.ts";
import { changeMemberRole } from "../../../src/commands/account/change-members.ts";
import { inviteMember } from "../../../src/commands/account/invitations.ts";
import type { CommandDeps } from "../../../src/commands/handle-command.ts";
import type { MailDeps } from "../../../src/commands/mail/people-mails.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { PASSWORD } from "../../support/portal/browser-like.ts";
import {
  type OidcService,
  type OidcVisitor,
  personThere,
  startOidcService,
} from "../../support/sign-in/oidc-service.ts";

const [ONE, TWO] = ["0199c0de-0000-4000-8000-000000000001", "0199c0de-0000-4000-8000-000000000002"] as const;
const personOf = (browser: OidcVisitor) => browser.cookies.get("linkledger-session")?.split(".")[0] ?? "";

const openedAccount = async (eventStore: EventStore, id: string) => opened(await loadAccount(eventStore, id));

async function openWithId(deps: CommandDeps, accountId: string): Promise<void> {
  await changeAccount(deps, operator, accountId, (account, at) =>
    open(account, { accountId, tier: "free", at }),
  );
}

describe("people of a provider", () => {
  let service: OidcService;
  let deps: CommandDeps & MailDeps;
  beforeAll(async () => {
    service = await startOidcService({
      SIGN_IN: "oidc",
      OIDC_GROUPS_CLAIM: "groups",
      OIDC_GROUPS: `web=${ONE}:editor; web-leads=${ONE}:owner; web=${TWO}:viewer; gone=${crypto.randomUUID()}:viewer; it=operator`,
    });
    const { eventStore, secrets } = service.backend;
    const log = { error: () => undefined };
    deps = { ...runtimeDeps, eventStore, secrets, log, mailer: undefined, baseUrl: "" };
    for (const id of [ONE, TWO]) await openWithId(deps, id);
  });
  afterAll(() => service.stop());

  const rolesOf = async (personId: string) =>
    await Promise.all(
      [ONE, TWO].map(async (id) => (await openedAccount(deps.eventStore, id)).members.get(personId)?.role),
    );
  async function signIn(sub: string, groups?: unknown, more: Record<string, unknown> = {}) {
    const browser = service.browser();
    const landed = await service.signIn(browser, personThere(sub, { groups, ...more }));
    return { browser, landed, personId: personOf(browser) };
  }

  it("are members by their groups, from one sign-in to the next, with the highest role", async () => {
    const { personId, landed } = await signIn("anna", ["web", "other"]);
    expect(landed.status).toBe(200);
    expect(await rolesOf(personId)).toEqual(["editor", "viewer"]);
    await signIn("anna", ["web-leads", "web"]);
    expect(await rolesOf(personId)).toEqual(["owner", "viewer"]);
    // Cut off, as Entra does: they stay as they are. Absent: none.
    await signIn("anna", undefined, { hasgroups: true });
    expect(await rolesOf(personId)).toEqual(["owner", "viewer"]);
    await signIn("anna");
    expect(await rolesOf(personId)).toEqual([undefined, undefined]);
  });

  it("are operators by a group for as long as their session lasts", async () => {
    const { browser } = await signIn("otto", ["it"]);
    expect((await browser.get("/admin")).status).toBe(200);
    await service.signIn(browser, personThere("otto", { groups: [] }));
    expect((await browser.get("/admin")).status).toBe(404);
  });

  it("keep what they have otherwise, and an account its last owner", async () => {
    const { personId } = await signIn("ben", ["web-leads"]);
    const { link: invited } = await inviteMember(deps, operator, TWO, {
      email: "ben@people.example",
      role: "admin",
    });
    const browser = service.browser();
    await service.signIn(browser, personThere("ben", { groups: ["web-leads"] }), String(invited));
    const [, query = ""] = String(invited).split("?");
    await browser.submit("/portal/invitation/accept", Object.fromEntries(new URLSearchParams(query)));
    expect(await rolesOf(personId)).toEqual(["owner", "admin"]);
    await changeMemberRole(deps, operator, ONE, ONE, "viewer");
    await signIn("ben", []);
    expect(await rolesOf(personId)).toEqual(["owner", "admin"]);
    await changeMemberRole(deps, operator, ONE, ONE, "owner");
    await signIn("ben", []);
    expect(await rolesOf(personId)).toEqual([undefined, "admin"]);
  });

  it("accept an invitation at their first sign-in, by the address that the provider has proven alone", async () => {
    const { link } = await inviteMember(deps, operator, ONE, {
      email: "Cleo@people.example",
      role: "viewer",
    });
    const unproven = await signIn("mallory", [], { email: "cleo@people.example", email_verified: false });
    expect([unproven.landed.status, unproven.personId]).toEqual([403, ""]);
    expect(unproven.landed.text).toContain("does not say that cleo@people.example is verified");
    // The link's page leads there, and looking at it spends nothing.
    const cleo = service.browser();
    expect((await cleo.get(String(link))).text).toContain("/portal/sign-in?next");
    const landed = await service.signIn(cleo, personThere("cleo"), String(link));
    expect([landed.status, landed.text]).toEqual([200, expect.stringContaining("Dashboard")]);
    expect(await rolesOf(personOf(cleo))).toEqual(["viewer", undefined]);
  });

  it("accept no invitation by an address that nobody has proven, whatever their groups give them", async () => {
    const { link } = await inviteMember(deps, operator, TWO, { email: "dan@people.example", role: "owner" });
    const { personId } = await signIn("mallory-2", ["web"], {
      email: "dan@people.example",
      email_verified: false,
    });
    expect(await rolesOf(personId)).toEqual(["editor", "viewer"]);
    const dan = service.browser();
    await service.signIn(dan, personThere("dan"), String(link));
    expect(await rolesOf(personOf(dan))).toEqual([undefined, "owner"]);
  });

  it("are refused where nothing is theirs, and no way that is off lets them in", async () => {
    const nobody = await signIn("nobody", ["unknown"]);
    expect([nobody.landed.status, nobody.personId]).toEqual([403, ""]);
    expect(nobody.landed.text).toContain("ask for an invitation");
    const browser = service.browser();
    for (const path of [
      "/portal/sign-up",
      "/portal/reset",
      "/portal/sign-up/finish?token=x",
      "/portal/reset/choose?token=x",
    ])
      expect((await browser.get(path)).status, path).toBe(403);
    const fields = { email: "one@people.example", password: PASSWORD };
    for (const path of ["/portal/sign-in", "/portal/sign-up", "/portal/reset", "/portal/reset/choose"])
      expect((await browser.post(path, fields)).status, path).toBe(403);
    expect((await browser.post("/portal/sign-in/passkey/begin")).status).toBe(404);
    const { text } = await browser.get("/portal/sign-in");
    expect(text).not.toContain("password");
    expect(text).toContain("Sign in with Acme");
    for (const page of ["/", "/status", "/portal/sign-in"])
      expect([page, (await browser.get(page)).text.includes("/portal/sign-up")]).toEqual([page, false]);
  });
});

describe("a newcomer", () => {
  it("becomes a member of the one account that OIDC_JOIN names", async () => {
    const id = crypto.randomUUID();
    const service = await startOidcService({ OIDC_JOIN: `${id}:editor` });
    try {
      const { eventStore, secrets } = service.backend;
      const deps = { ...runtimeDeps, eventStore, secrets };
      await openWithId(deps, id);
      const browser = service.browser();
      await service.signIn(browser, personThere("dora"));
      expect((await openedAccount(eventStore, id)).members.get(personOf(browser))?.role).toBe("editor");
      expect((await browser.get("/portal/links")).status).toBe(200);
    } finally {
      await service.stop();
    }
  });
});
