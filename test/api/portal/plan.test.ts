// The plan page over real HTTP: usage, upgrade request, approval by the operator, downgrade.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { upgradeRequests } from "../../../src/billing/manual-billing.ts";
import { visitor } from "../../support/portal/browser-like.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const password = "seven brown foxes";

describe("the plan page", { timeout: 60_000 }, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  it("shows what each plan has, and counts active keys and the requests of each in its hour", async () => {
    const person = visitor(service.port);
    await person.submit("/portal/sign-up", { email: "usage@example.com", password });
    const issued = await person.submit("/portal/keys", { label: "Website" });
    const [key = ""] = /ll_[A-Za-z0-9]{32}/.exec(issued.text) ?? [];
    for (let round = 0; round < 3; round++) await service.ask("/api/v1/links", { key });
    const { text } = await person.get("/portal/plan");
    expect(text).toMatch(/Active API keys<\/span><span class="number">1 of 2/);
    expect(text).toContain("Any range of time, with live updates");
    expect(text).toMatch(/Requests this hour, Website<\/span><span class="number">3 of 50/);
  });

  it("keeps one request for the operator, who grants it; the owner may withdraw it or go back to Free", async () => {
    const person = visitor(service.port);
    await person.submit("/portal/sign-up", { email: "upgrade@example.com", password });
    const waiting = async () =>
      (await upgradeRequests({ ...service.backend, clock: () => new Date() })).map(
        ({ accountId }) => accountId,
      );
    const ask = () => person.submit("/portal/plan", {}, "/portal/plan/upgrade");
    expect((await ask()).text).toContain("Your request is with the operator.");
    await ask();
    const [accountId = "", ...others] = await waiting();
    expect(others).toEqual([]);
    await person.submit("/portal/plan", {}, "/portal/plan/withdraw");
    expect(await waiting()).toEqual([]);
    await ask();
    await service.changeTier(accountId, "developer");
    const onDeveloper = async () => (await person.get("/portal/plan")).text;
    await expect.poll(onDeveloper).toContain("You are on the Developer plan.");
    const back = await person.submit("/portal/plan", {}, "/portal/plan/downgrade");
    expect(back.text).toContain("You are on the Free plan.");
  });
});
