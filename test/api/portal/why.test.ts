// The page that says why numbers changed: from one moment to the other, by rows that add up, for people.
import { afterAll, beforeAll, expect, it } from "vitest";
import { personWithEmail } from "../../../src/commands/people/email.ts";
import { decoded, signedUp, type Visitor } from "../../support/portal/browser-like.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const email = "why@example.com";
let service: TestService;
let person: Visitor;
let slug: string;

beforeAll(async () => {
  service = await startTestService();
  person = await signedUp(service.port, email);
  const account = await personWithEmail({ secrets: service.backend.secrets, clock: () => new Date() }, email);
  const accountId = String(account?.personId);
  const { key } = await service.issueKey(accountId);
  const made = await service.post<{ slug: string }>("/api/v1/shorten", key, { url: "https://example.com/" });
  slug = made.body.slug;
  expect((await person.get("/portal/analytics/why")).status).toBe(402);
  await service.changeTier(accountId, "developer");
  for (const agent of [BROWSER, BROWSER, "curl/8.0"])
    await service.ask(`/${slug}`, { headers: { "user-agent": agent } });
  await until("the plan, and the clicks", async () => {
    const { text } = await person.get(`/portal/analytics?link=localhost/${slug}`);
    return /\/portal\/analytics\/why\?range=7d&[^"]*&link=localhost%2F/.test(decoded(text));
  });
}, 60_000);
afterAll(() => service.stop());

it("shows the numbers before, each change and the numbers after, of a link and of all", async () => {
  for (const query of [`?link=localhost/${slug}`, ""])
    await until("the clicks", async () => {
      const { status, text } = await person.get(`/portal/analytics/why${query}`);
      expect(status).toBe(200);
      const rows = [...decoded(text).matchAll(/<tr><td>(.*?)<\/tr>/gs)].map(([row]) =>
        row
          .replace(/<[^>]*>/g, " ")
          .replace(/\s+/g, " ")
          .trim(),
      );
      return (
        String(rows[0]).endsWith("0 0 0 0") &&
        /counted in between \+2 \+1 \+3$/.test(rows[1] ?? "") &&
        String(rows[2]).endsWith("2 0 1 3")
      );
    });
});

it("says what is wrong with a moment, and finds no other account's link", async () => {
  const wrong = await person.get("/portal/analytics/why?since=soon");
  expect([wrong.status, wrong.text.includes("since must be a time")]).toEqual([400, true]);
  const later = await person.get("/portal/analytics/why?since=2026-02-01T00:00&until=2026-01-01T00:00");
  expect([later.status, later.text.includes("since must be before until")]).toEqual([400, true]);
  expect((await person.get("/portal/analytics/why?link=localhost/nosuch0")).status).toBe(404);
  expect((await person.get("/portal/analytics/why?link=nonsense")).status).toBe(404);
});
