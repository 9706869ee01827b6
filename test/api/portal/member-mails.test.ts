// What members are told, by mail and on the dashboard, wherever it was done: in the portal, by the API, by the command line.
import { afterAll, beforeAll, expect, it } from "vitest";
import { KEY_SCOPES } from "../../../src/events/vocabulary.ts";
import { PASSWORD, type Visitor, visitor } from "../../support/portal/browser-like.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { linkIn, type MailReceiver, startMailReceiver } from "../../support/servers/mail-receiver.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const DAY_MS = 86_400_000;
let receiver: MailReceiver;
let service: TestService;
let cli: ReturnType<typeof commandLine>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let now = Date.now();
let addresses = 0;
beforeAll(async () => {
  [receiver, folder] = await Promise.all([startMailReceiver(), temporaryFolder()]);
  const settings = { SMTP_URL: receiver.url, DATA_DIR: folder.path, TRUST_PROXY: "loopback" };
  service = await startTestService(settings, () => new Date(now));
  cli = commandLine(folder.path);
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
  await folder.remove();
});

const stranger = () => visitor(service.port, { address: `203.0.113.${++addresses}` });
const idOf = (one: Visitor) => (one.cookies.get("linkledger-session") ?? "").split(".")[0] ?? "";
const partsOf = (path: string) => Object.fromEntries(new URLSearchParams(path.split("?")[1]));

async function mailTo(address: string) {
  const mail = await receiver.next();
  expect(mail.to).toBe(address);
  return mail;
}

async function owner(email: string): Promise<Visitor> {
  const one = stranger();
  await one.submit("/portal/sign-up", { email });
  const link = linkIn(await mailTo(email));
  await one.submit(link, { ...partsOf(link), password: PASSWORD }, "/portal/sign-up/finish");
  return one;
}

/** Accepts the invitation that was mailed. */
async function accepted(email: string): Promise<Visitor> {
  const link = linkIn(await mailTo(email));
  const one = stranger();
  await one.submit(link, { ...partsOf(link), password: PASSWORD }, "/portal/invitation");
  return one;
}

it("invitations, roles and removals are mailed by each way in which they are made, and shown to nobody else", async () => {
  const boss = await owner("boss@example.com");
  const account = idOf(boss);
  const { key } = await service.issueKey(account, { scopes: KEY_SCOPES });

  const invited = await boss.submit("/portal/members", { email: "page@example.com", role: "editor" });
  expect(invited.text).toContain("A mail to page@example.com is on its way");
  expect(invited.text).not.toContain("/portal/invitation?id=");
  const byPage = await accepted("page@example.com");
  const body = { email: "api@example.com", role: "editor" };
  const byKey = await service.post<{ link: string | null }>("/api/v1/invitations", key, body);
  expect([byKey.status, byKey.body.link]).toEqual([201, null]);
  const byApi = await accepted("api@example.com");
  const ofAccount = ["--account", "boss@example.com"];
  const byOperator = await cli.json("member", "invite", "cli@example.com", ...ofAccount, "--role", "viewer");
  expect(byOperator.link).toBeNull();
  const byCli = await accepted("cli@example.com");
  expect((await boss.get("/portal/members")).text).toContain("Last signed in");

  await boss.submit("/portal/members", { role: "viewer" }, `/portal/members/${idOf(byPage)}/role`);
  expect((await mailTo("page@example.com")).text).toMatch(/account of boss@example.com you are viewer/);
  const member = `/api/v1/members/${idOf(byApi)}`;
  await service.ask(member, { method: "PATCH", key, body: { role: "viewer" } });
  expect((await mailTo("api@example.com")).text).toContain(`/portal/${account}`);
  await cli.json("member", "role", "cli@example.com", "admin", ...ofAccount);
  expect((await mailTo("cli@example.com")).text).toContain("you are admin now");

  await service.ask(member, { method: "DELETE", key });
  expect((await mailTo("api@example.com")).text).toContain("no longer opens for you");
  await cli.json("member", "remove", "cli@example.com", ...ofAccount);
  await mailTo("cli@example.com");
  expect((await byCli.get("/portal/links")).headers.location).toBe("/portal/accounts");
  // Of what they do themselves nobody is told.
  await byPage.post("/portal/account/leave");
  expect(receiver.waitingMails()).toBe(0);
});

it("a changed role and a changed password stand on the dashboard, until they are dismissed or for a week", async () => {
  const boss = await owner("chief@example.com");
  await boss.submit("/portal/members", { email: "told@example.com", role: "editor" });
  const told = await accepted("told@example.com");
  await boss.submit("/portal/members", { role: "viewer" }, `/portal/members/${idOf(told)}/role`);
  await mailTo("told@example.com");
  const news = /You are viewer of <strong>chief@example.com<\/strong> now/;
  expect((await told.get("/portal")).text).toMatch(news);
  await told.post("/portal/news/dismiss");
  expect((await told.get("/portal")).text).not.toMatch(news);

  now += 1_000;
  const wanted = "nine brown badgers";
  await told.submit("/portal/profile", { password: PASSWORD, wanted }, "/portal/profile/password");
  expect((await mailTo("told@example.com")).text).toContain("password was changed");
  const shown = async () => /Your password was changed/.test((await told.get("/portal")).text);
  await until("the news", shown);
  now += 6 * DAY_MS;
  expect(await shown()).toBe(true);
  now += 2 * DAY_MS;
  expect(await shown()).toBe(false);
});

it("an address gets so many invitations an hour, by whatever way, and one that is not sent can be sent again", async () => {
  const boss = await owner("eager@example.com");
  const { key } = await service.issueKey(idOf(boss), { scopes: KEY_SCOPES });
  const email = "flooded@example.com";
  for (let n = 0; n < 3; n += 1) {
    await boss.submit("/portal/members", { email, role: "viewer" });
    await mailTo(email);
  }
  for (const status of [201, 201, 429])
    expect((await service.post("/api/v1/invitations", key, { email, role: "viewer" })).status).toBe(status);
  for (const _ of [1, 2]) await mailTo(email);
});
