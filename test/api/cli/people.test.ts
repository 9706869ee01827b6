// Members and people by the command line, beside a running service; what is left of somebody who was removed.
import { afterAll, beforeAll, expect, it } from "vitest";
import { PASSWORD, visitor } from "../../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

let service: TestService;
let cli: ReturnType<typeof commandLine>;
let owner: Person;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startTestService({ DATA_DIR: folder.path, TRUST_PROXY: "loopback" });
  cli = commandLine(folder.path);
  owner = await portalPeople(service).person();
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
  await colleague.post("/portal/account/name", { name: "Kim" });
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
