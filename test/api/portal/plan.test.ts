// Plans in the portal over real HTTP: usage, upgrade and downgrade where they are sold, and none where they are not.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { upgradeRequests } from "../../../src/commands/account/tier.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { issuedKey, PASSWORD as password, signedUp, visitor } from "../../support/portal/browser-like.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

describe("the plan page", { timeout: 60_000 }, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  it("is in the navigation, and the price on the first page of the site", async () => {
    const person = visitor(service.port);
    expect((await person.get("/")).text).toContain("Developer plan, at 9 USD a month.");
    await person.submit("/portal/sign-up", { email: "price@example.com", password });
    expect((await person.get("/portal")).text).toContain('<a href="/portal/plan"');
    expect((await person.get("/portal/plan")).text).toContain("Developer, 9 USD a month");
  });

  it("shows what each plan has, and counts active keys and the requests of each in its hour", async () => {
    const person = await signedUp(service.port, "usage@example.com");
    const key = await issuedKey(person, "Website");
    for (let round = 0; round < 3; round++) await service.ask("/api/v1/links", { key });
    const { text } = await person.get("/portal/plan");
    expect(text).toMatch(/Active API keys<\/span><span class="number">1 of 2/);
    expect(text).toContain("Any range of time, with live updates");
    expect(text).toMatch(/Requests this hour, Website<\/span><span class="number">3 of 50/);
  });

  it("keeps one request for the operator, who grants it; the owner may withdraw it or go back to Free", async () => {
    const person = await signedUp(service.port, "upgrade@example.com");
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
    expect(back.text).toContain("You are on the Free plan from now on.");
    expect(back.text).toContain("You are on the Free plan.");
  });
});

describe("a service that has just been started, without a price", { timeout: 60_000 }, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ PLAN_PRICE: "" });
  });
  afterAll(() => service.stop());

  it("gives everything to who signs up, asks for no money, and says what to do first", async () => {
    const owner = visitor(service.port);
    expect((await owner.get("/")).text).toContain("Your first minute");
    await owner.submit("/portal/sign-up", { email: "owner@example.com", password });
    const first = await owner.get("/portal");
    for (const step of ["Make your first short link", "Make an API key", "Add a domain", "Add a webhook"])
      expect(first.text).toContain(step);
    const issued = await owner.submit("/portal", { label: "First key" }, "/portal/keys");
    expect(issued.text).toMatch(
      /curl http:\/\/localhost\/api\/v1\/shorten -H &#34;X-API-Key: ll_\w{32}&#34;/,
    );
    for (const path of ["/", "/portal", "/portal/webhooks", "/portal/domains", "/portal/plan"])
      expect((await owner.get(path)).text, path).not.toMatch(/USD|href="\/portal\/plan"|Developer plan</);
    const [opened] = await loggedEvents(service.backend.eventStore, { categories: ["account"], limit: 1 });
    expect(opened).toMatchObject({ type: "AccountOpened", data: { tier: "developer" } });
  });

  it("tells the owner of a Free account which command of the operator changes its plan", async () => {
    const person = await signedUp(service.port, "free@example.com");
    const accountId = person.cookies.get("linkledger-session")?.split(".")[0] ?? "";
    await service.changeTier(accountId, "free");
    const plan = async () => (await person.get("/portal/plan")).text;
    await expect.poll(plan).toContain("You are on the Free plan.");
    expect(await plan()).toContain(`bin/linkledger account tier ${accountId} developer`);
    expect(await plan()).not.toMatch(/USD|plan\/upgrade/);
  });
});
