// Weekly mails: begun in the portal, sent once a week on Monday at 8:00 where their owner lives, stopped without signing in.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Mailer, smtpMailer } from "../../../src/commands/mail/mailer.ts";
import { Refused } from "../../../src/commands/refusals.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { beginWeeklyMail, stopLinks } from "../../../src/commands/sharing/weekly-mails.ts";
import { secretKeysOf } from "../../../src/config/config.ts";
import { type WeeklyMailDocument, weeklyMails } from "../../../src/projections/definitions/weekly-mails.ts";
import { timeZone } from "../../../src/queries/analytics/time-zone.ts";
import { dueWeek, sendWeeklyMails } from "../../../src/service/jobs/weekly-mails.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";
import { type MailReceiver, startMailReceiver } from "../../support/servers/mail-receiver.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Tuesday, later than any day on which these tests run: the service's own job sends nothing yet. */
const TUESDAY = Date.parse("2099-03-03T12:00:00.000Z");
/** 8:00 in Berlin. */
const MONDAY = Date.parse("2099-03-09T07:00:00.000Z");

let receiver: MailReceiver;
let service: TestService;
let owner: Person;
let now = TUESDAY;
let ids = 0;
beforeAll(async () => {
  receiver = await startMailReceiver();
  // Those of signing up are not the point here: without SMTP an account is open at once.
  service = await startTestService(
    { TRUST_PROXY: "127.0.0.1/32", SESSION_HOURS: "8760" },
    () => new Date(now),
  );
  const people = portalPeople(service);
  owner = await people.developer();
  await owner.post("/portal/account/time-zone", { timezone: "Europe/Berlin" });
  const shown = await people.shorten(owner, "https://example.com/shown", {
    tags: "shown",
    title: "Our sale",
  });
  const other = await people.shorten(owner, "https://example.com/other");
  for (const path of [shown, shown, shown, other])
    await people.follow(path, { "user-agent": "Mozilla/5.0 Firefox/130.0" });
  now += 60_000;
  await until("the visits", async () =>
    (await owner.get("/portal/analytics")).text.includes('data-total="people">4<'),
  );
}, 60_000);
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

const stops = () => stopLinks(secretKeysOf(service.config));
const ownMailer = () => smtpMailer({ smtpUrl: receiver.url, mailFrom: "no-reply@example.com" }) as Mailer;
const send = (mailer = ownMailer()) =>
  sendWeeklyMails(
    {
      ...service.backend,
      mailer,
      stopLinks: stops(),
      baseUrl: "http://localhost",
      clock: () => new Date(now),
      newId: () => `process ${ids++}`,
      log: { info: () => undefined, warn: () => undefined },
    },
    new AbortController().signal,
  );

/** As the form does, which isn't offered without a mail server. */
async function begin(name: string, filters: Record<string, string[]> = {}) {
  const { eventStore, readStore } = service.backend;
  const context = { requestId: "test", actor: { type: "person", id: owner.accountId } } as const;
  const deps = { ...runtimeDeps, eventStore, clock: () => new Date(now) };
  await beginWeeklyMail(deps, context, owner.accountId, { name, filters });
  const begun = (await eventStore.read(`account-${owner.accountId}`)).at(-1)?.data as { mailId: string };
  const document = () => readStore.get<WeeklyMailDocument>(weeklyMails.collection.name, begun.mailId);
  await until("the mail", async () => (await document())?.status === "running");
}

/** Path of the page that stops the mail. */
const stopIn = (text: string) => /Stop this mail: http:\/\/localhost(\S+)/.exec(text)?.[1] ?? "";
const stopOnce = (path: string, body: string, type: string) =>
  service.ask(path, { method: "POST", headers: { "content-type": type }, body });
const isRunning = async () => (await owner.get("/portal/shared")).text.includes("Your weekly mails");

it("comes on Monday at 8:00 with the week before, once however many processes send, and is stopped by its own link", async () => {
  await begin("Weekly sale", { tag: ["shown"] });
  now = MONDAY - 1;
  expect(await send()).toBe(0);
  now = MONDAY;
  const sent = await Promise.all([send(), send(), send()]);
  expect(sent.sort()).toEqual([0, 0, 1]);
  expect(await send()).toBe(0);
  const { to, text } = await receiver.next();
  expect(to).toBe(owner.email);
  expect(text).toContain("Subject: Weekly sale: 3 clicks last week");
  expect(text).toMatch(/March 2\s?–\s?8, 2099, tag shown\./);
  expect(text).toContain("Clicks: 3 (0 the week before)");
  expect(text).toContain("  3  Our sale");
  const path = stopIn(text);
  expect(text.replace("\n <", " <")).toContain(`List-Unsubscribe: <http://localhost${path}>`);
  expect(text).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");

  // A week later with what the week before had, until somebody stops it.
  now = MONDAY + 7 * DAY_MS;
  expect(await send()).toBe(1);
  expect((await receiver.next()).text).toContain("Clicks: 0 (−100%, 3 the week before)");
  const looked = await service.ask(path, { headers: { accept: "text/html" } });
  expect([looked.status, looked.text.includes("Stop this mail?"), await isRunning()]).toEqual([
    200,
    true,
    true,
  ]);
  const boundary =
    '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';
  const stopped = await stopOnce(path, boundary, "multipart/form-data; boundary=x");
  expect([stopped.status, await isRunning()]).toEqual([200, false]);
  const again = await stopOnce(path, "List-Unsubscribe=One-Click", "application/x-www-form-urlencoded");
  expect(again.status).toBe(200);
  now += 7 * DAY_MS;
  expect(await send()).toBe(0);
}, 60_000);

it("is not stopped by an address that we have not signed", async () => {
  await begin("Still running");
  const mail = { accountId: owner.accountId, mailId: "01950000-0000-7000-8000-000000000000" };
  const path = stopLinks(["another secret of thirty-two characters"]).path(mail);
  for (const forged of [path, `${stops().path(mail).slice(0, -1)}!`, "/mails/stop/x"])
    expect((await stopOnce(forged, "", "application/x-www-form-urlencoded")).status).toBe(404);
  expect(await isRunning()).toBe(true);
});

it("is stopped from an address that has tried what we have not signed", async () => {
  const headers = { "x-forwarded-for": "198.51.100.7" };
  const tries = Array.from({ length: 101 }, () => service.ask("/mails/stop/x", { headers }));
  expect((await Promise.all(tries)).filter(({ status }) => status === 429)).toHaveLength(1);
  const mail = { accountId: owner.accountId, mailId: "01950000-0000-7000-8000-000000000000" };
  expect((await service.ask(stops().path(mail), { method: "POST", headers })).status).toBe(200);
});

it("is sent again where the mail server has certainly not taken it, and not where it may have", async () => {
  const failing = (retryAfter?: number): Mailer => ({
    send: async () => {
      throw new Refused("mail_not_sent", "no", retryAfter === undefined ? {} : { retryAfter });
    },
    close: () => undefined,
  });
  now = MONDAY + 21 * DAY_MS;
  await send(failing(60));
  expect(await send()).toBe(0);
  now += HOUR_MS;
  expect(await send()).toBe(1);
  now = MONDAY + 28 * DAY_MS;
  await send(failing());
  now += HOUR_MS;
  expect(await send()).toBe(0);
});

it("is due for a day from 8:00 by the clock of its zone, in weeks that are longer and shorter than others", () => {
  const berlin = timeZone("Europe/Berlin");
  if (!berlin) throw new Error("no such zone");
  // Clocks were set forward on 29 March 2026.
  const week = dueWeek(berlin, Date.parse("2026-03-30T06:00:00Z"));
  expect(week && (week.to - week.from) / HOUR_MS).toBe(167);
  expect(week?.name).toBe("2026-03-30");
  expect(dueWeek(berlin, Date.parse("2026-03-30T05:59:59Z"))).toBeUndefined();
  expect(dueWeek(berlin, Date.parse("2026-03-31T05:59:59Z"))?.name).toBe("2026-03-30");
  expect(dueWeek(berlin, Date.parse("2026-03-31T06:00:00Z"))).toBeUndefined();
});

it("is not offered without a mail server, which the page says", async () => {
  const { text } = await owner.get("/portal/shared");
  expect(text).toContain("has set no mail server");
  expect(text).not.toContain('action="/portal/shared/mails"');
});
