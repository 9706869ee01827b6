// Members and people by the command line, beside a running service; what is left of somebody who was removed.
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueSignInLink, lookAtSignInLink } from "../../../src/commands/people/one-time-tokens.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { PASSWORD, visitor } from "../../support/portal/browser-like.ts";
import { ADMIN_TOKEN, operatorOf } from "../../support/portal/operator.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

let service: TestService;
let cli: ReturnType<typeof commandLine>;
let people: ReturnType<typeof portalPeople>;
let owner: Person;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startTestService({ DATA_DIR: folder.path, TRUST_PROXY: "loopback" });
  cli = commandLine(folder.path);
  people = portalPeople(service);
  owner = await people.person();
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

it("the operator invites, changes and removes members, and a removed person leaves an id alone", async () => {
  const of = ["--account", owner.email] as const;
  const email = "colleague@example.com";
  const invited = await cli.json("member", "invite", email, ...of, "--role", "editor");
  const link = new URL(String(invited.link));
  const colleague = visitor(service.port, { address: "203.0.113.7" });
  const fields = { ...Object.fromEntries(link.searchParams), password: PASSWORD };
  await colleague.submit(link.pathname + link.search, fields, "/portal/invitation");
  await colleague.post("/portal/profile/name", { name: "Kim" });
  const made = await colleague.post("/portal/links", { url: "https://example.com/" });
  const path = String(made.headers.location);
  expect((await owner.get(path)).text).toContain("<strong>Kim</strong> created this link");

  expect((await cli.json("member", "list", ...of)).members).toMatchObject([
    { email: owner.email, role: "owner" },
    { email, name: "Kim", role: "editor" },
  ]);
  expect(await cli.json("member", "role", email, "owner", ...of)).toMatchObject({ role: "owner" });
  await cli.json("member", "remove", owner.email, ...of);
  expect(await cli.refused("member", "role", email, "viewer", "--account", owner.accountId)).toContain(
    "last owner",
  );
  expect(await cli.refused("person", "remove", email, "--yes")).toContain("last owner");

  const again = await cli.json(
    "member",
    "invite",
    owner.email,
    "--account",
    owner.accountId,
    "--role",
    "owner",
  );
  const back = new URL(String(again.link));
  await owner.submit(
    back.pathname + back.search,
    Object.fromEntries(back.searchParams),
    "/portal/invitation/accept",
  );
  const shown = await cli.json("person", "show", email);
  expect(shown).toMatchObject({ name: "Kim", accounts: [{ account_id: owner.accountId, role: "owner" }] });
  await cli.json("person", "remove", email, "--yes");
  expect((await colleague.get(path)).headers.location).toContain("/portal/sign-in");
  expect((await owner.get(path)).text).toContain("<strong>A former member</strong> created this link");
  expect((await owner.get("/portal/links")).text).toContain("by a former member");
  const kept = await service.backend.secrets.list("", new Date());
  const left = kept.filter((secret) => /colleague@|Kim/.test(JSON.stringify(secret)));
  expect(left.map(({ key }) => key)).toEqual([]);
  expect((await cli.json("person", "list")).persons).toContainEqual(
    expect.objectContaining({
      person_id: shown.person_id,
      email: null,
      name: "a former member",
      accounts: [],
    }),
  );
});

it("the operator makes a link that signs somebody in: once, within ten minutes, by its button alone", async () => {
  const person = await people.person();
  const linkOf = async () => new URL(String((await cli.json("person", "sign-in-link", person.email)).link));
  const { pathname, search, searchParams } = await linkOf();
  const events = await service.backend.eventStore.read(`person-${person.accountId}`);
  expect(events).toMatchObject([{ type: "SignInLinkIssued", metadata: { actor: { type: "operator" } } }]);

  const one = visitor(service.port, { address: "203.0.113.8" });
  for (const _ of [1, 2]) {
    const { status, text, headers } = await one.get(pathname + search);
    expect([status, text, headers["referrer-policy"]]).toEqual([
      200,
      expect.stringContaining(`As ${person.email}`),
      "same-origin",
    ]);
  }
  expect((await one.get("/portal/links")).headers.location).toContain("/portal/sign-in");
  const sent = Object.fromEntries(searchParams);
  const tries = await Promise.all([1, 2, 3].map(() => one.post(pathname, sent)));
  expect(tries.map(({ status }) => status).sort()).toEqual([303, 404, 404]);
  expect((await one.get("/portal/links")).status).toBe(200);
  expect((await one.get("/portal/accounts")).text).toContain(person.email);

  const token = String((await linkOf()).searchParams.get("token"));
  const { secrets } = service.backend;
  const after = (ms: number) => ({ secrets, clock: () => new Date(Date.now() + ms) });
  expect(await lookAtSignInLink(after(590_000), token)).toEqual({ email: person.email });
  await expect(lookAtSignInLink(after(600_000), token)).rejects.toMatchObject({ code: "token_expired" });
});

it("such a link works where no other way of signing in does", async () => {
  const strict = await startTestService({ SIGN_IN: "passkey" });
  const { accountId } = await strict.member("free");
  const { path } = await issueSignInLink({ ...runtimeDeps, ...strict.backend }, operator, accountId);
  const one = visitor(strict.port);
  await one.submit(path, Object.fromEntries(new URLSearchParams(path.split("?")[1])), "/portal/sign-in/link");
  expect((await one.get("/portal/links")).status).toBe(200);
  await strict.stop();
});

it("no link to a password is made where nobody signs in by one", async () => {
  const ownFolder = await temporaryFolder();
  const passwordless = await startTestService({ DATA_DIR: ownFolder.path, SIGN_IN: "passkey", ADMIN_TOKEN });
  try {
    const command = commandLine(ownFolder.path);
    const made = await command.json("account", "create", "--email", "keys@example.com");
    expect(Object.keys(made)).toEqual(["account_id", "email", "tier"]);
    for (const refused of [
      ["password", String(made.account_id)],
      ["invite", "more@example.com"],
    ])
      expect(await command.refused("account", ...refused)).toContain("person sign-in-link");
    const invited = await operatorOf(passwordless).post("/accounts/invite", {
      email: "more@example.com",
      tier: "free",
    });
    expect(invited).toMatchObject({ status: 403, body: { code: "sign_in_off" } });
    const link = await command.json("person", "sign-in-link", "keys@example.com");
    expect(link.link).toContain("/portal/sign-in/link?token=");
  } finally {
    await passwordless.stop();
    await ownFolder.remove();
  }
});
