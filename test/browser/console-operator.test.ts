// An operator's day in a real browser: an unreadable event found, repaired and folded; a rebuild watched and
// rolled back.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { readBuilds } from "../../src/projections/builds/builds-document.ts";
import { webhooks } from "../../src/projections/definitions/webhooks.ts";
import { clicks } from "../../src/projections/groups.ts";
import { linkCreated } from "../support/event-store/stored-events.ts";
import { ADMIN_TOKEN } from "../support/portal/operator.ts";
import { inChromiumAtLength, portalBrowser } from "../support/portal/portal-browser.ts";
import { until } from "../support/runtime/until.ts";
import { complaintsOf, seriousViolations } from "../support/servers/chromium.ts";
import { webhookOf } from "../support/webhooks/webhook-of.ts";

const BROKEN = "link-localhost/broken";

inChromiumAtLength(() => {
  const portal = portalBrowser({ ADMIN_TOKEN, WEBHOOK_ALLOW_PRIVATE: "true" });
  let page: Page;
  let complaints: string[];
  let shortUrl: string;

  beforeAll(async () => {
    const { key } = await portal.service.member("developer");
    const { body } = await portal.service.post("/api/v1/shorten", key, { url: "https://example.com/" });
    shortUrl = String(body.short_url);
    for (let n = 0; n < 5; n++) await portal.follow(shortUrl);
  });

  const open = async (path: string) => void (await page.goto(`${portal.base}${path}`));
  const looksRight = async (name: string) => {
    expect(await seriousViolations(page), name).toEqual([]);
  };
  const act = (name: string) => page.getByRole("button", { name, exact: true });
  const confirm = async (summary: string, button: string) => {
    await page.locator("[popovertarget]", { hasText: summary }).click();
    await page.getByRole("dialog").getByRole("button", { name: button, exact: true }).click();
  };

  it("begins with the token, typed once", async () => {
    page = await portal.visitor();
    complaints = complaintsOf(page);
    await open("/admin/projections");
    await page.getByLabel("Admin token").fill("not the token, I am afraid");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("That is not the ADMIN_TOKEN").waitFor();
    await looksRight("sign-in");
    await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Projections", level: 1 }).waitFor();
    // The browser tells of the refused sign-in.
    expect(complaints.splice(0)).toEqual([expect.stringContaining("401")]);
  });

  it("is led from a receiver that rests to whose it is", async () => {
    const { backend } = portal.service;
    const { accountId } = await portal.service.member("developer");
    const { webhookId } = await webhookOf(backend, accountId, 65_000);
    const failed = (minutesAgo: number) => {
      const at = new Date(Date.now() - minutesAgo * 60_000).toISOString();
      return backend.deliveryQueue.noteFailure(webhookId, at, "2026-01-01T00:00:00.000Z");
    };
    await until("the webhook's document", async () =>
      Boolean(await backend.readStore.get(webhooks.collection.name, webhookId)),
    );
    await open("/admin");
    await page.getByRole("status").filter({ hasText: "Nothing is wrong." }).waitFor();
    await looksRight("nothing-wrong");
    for (let n = 10; n > 0; n--) await failed(n - 1);
    await open("/admin");
    const rests = page.getByRole("listitem").filter({ hasText: "127.0.0.1:65000 has failed since" });
    expect(await rests.textContent()).toMatch(/^Notice webhook receiver.*rests until about/);
    await rests.getByRole("link", { name: "Look at it" }).click();
    await page
      .getByRole("row", { name: /127\.0\.0\.1:65000 +has failed since .*, rests until about/ })
      .waitFor();
    expect(page.url()).toContain(accountId);
    await backend.deliveryQueue.endStreak(webhookId);
  });

  it("finds an event that was set aside, and has it folded once it can be read", async () => {
    const { eventStore } = portal.service.backend;
    const { type, data } = linkCreated({ host: "localhost", slug: "broken" });
    const metadata = {
      schemaVersion: 1,
      correlationId: "x",
      causationId: "x",
      actor: { type: "operator" },
    } as const;
    await eventStore.append(BROKEN, "none", [{ id: randomUUID(), type, data: { at: "once" }, metadata }]);
    await open("/admin/projections");
    // Without a reload: the page asks for itself.
    await page.getByRole("row", { name: /^lifecycle .*Current 1 event set aside/ }).waitFor();
    await looksRight("projections-set-aside");
    await open("/admin");
    const problem = page.getByRole("listitem").filter({ hasText: "projections lifecycle" });
    expect(await problem.textContent()).toMatch(/^Disturbed .* 1 event set aside: LinkCreated at \d+ /);
    await looksRight("what-is-wrong");
    await problem.getByRole("link", { name: "Look at it" }).click();
    await page.getByRole("heading", { name: "1 event set aside" }).waitFor();
    expect(await page.locator(".card-danger").textContent()).toMatch(/LinkCreated.*revision 0.*accountId/s);
    await looksRight("set-aside");
    await page.locator(".card-danger").getByRole("link", { name: "LinkCreated" }).click();
    await page.getByText("Can't be read").waitFor();
    await looksRight("unreadable-event");

    const log = new DatabaseSync(join(portal.service.config.dataDir, "events.db"), { timeout: 10_000 });
    const mend = log.prepare(
      "UPDATE appends SET body = json_set(body, '$[0].data', json(?)) WHERE stream = ?",
    );
    mend.run(JSON.stringify(data), BROKEN);
    log.close();
    await open("/admin/projections/lifecycle");
    await act("Rebuild").click();
    await page.getByText("A new build is being computed").waitFor();
    await until("the event to be folded", async () => {
      await page.reload();
      return (await page.getByRole("heading", { name: "1 event set aside" }).count()) === 0;
    });
    await open("/admin");
    expect(await page.getByRole("listitem").filter({ hasText: "projections lifecycle" }).count()).toBe(0);
    await open("/admin/streams?category=link");
    await until("the repaired stream", async () => {
      await page.reload();
      return (await page.getByRole("link", { name: BROKEN }).count()) === 1;
    });
  });

  it("rebuilds, and rolls a finished build back", async () => {
    const builds = () => readBuilds(portal.service.backend.foldStore, clicks);
    await open("/admin/projections/clicks");
    await act("Rebuild").click();
    // Without a reload again.
    await page
      .locator("#status")
      .getByText("version 1, build 1")
      .or(page.getByText(/version \d+, build 1/))
      .first()
      .waitFor();
    await until("the switch", async () => (await builds()).active?.build === 1);
    await page.locator("#acts").getByText("Roll back").first().waitFor();
    await confirm("Roll back", "Roll back");
    await page.getByText("The previous build takes in what it lacks").waitFor();
    await until("the switch back", async () => (await builds()).active?.build === 0);
    await looksRight("rolled-back");
  });

  it("takes test clicks out after a look at them, and back in", async () => {
    await open("/admin");
    await page.getByRole("link", { name: "Withdrawals" }).click();
    await page.getByLabel("Link", { exact: true }).fill(shortUrl);
    await page.getByLabel("From", { exact: true }).fill(new Date().toISOString().slice(0, 10));
    await act("Show").click();
    await page.getByRole("heading", { name: "What would go: 5 hits" }).waitFor();
    await page.getByLabel("Reason").fill("Our own test");
    await looksRight("withdrawal-preview");
    await act("Withdraw 5 hits").click();
    await page.getByText("5 hits no longer count").waitFor();
    await looksRight("withdrawals");
    await act("Restore 5 hits").click();
    await page.getByText("Its hits count again").waitFor();
  });

  it("blocks an abusive link after asking once more, and its owner reads why", async () => {
    const owner = await portal.member({ viewport: { width: 390, height: 844 } });
    await owner.goto(`${portal.base}/portal/links`);
    await owner.locator("input[name=url]").fill("https://bank.example/");
    await owner.keyboard.press("Enter");
    await owner.getByText("is ready").waitFor();
    const link = decodeURIComponent(new URL(owner.url()).pathname.replace(/^.*\/portal\/.*?links\//, ""));
    await open(`/admin/stream?name=link-${link}`);
    await page.locator("[popovertarget]", { hasText: "Block link" }).click();
    await page.getByLabel("Reason").fill("Phishing of a bank");
    await looksRight("block-link");
    await page.getByRole("dialog").getByRole("button", { name: "Block link" }).click();
    await page.getByText("The link is blocked").waitFor();
    await looksRight("blocked-link");
    await owner.reload();
    await owner.getByText("Phishing of a bank").first().waitFor();
    expect(await seriousViolations(owner)).toEqual([]);
    await act("Unblock link").click();
    await page.getByText("no longer blocked").waitFor();
  });

  it("finds the account of a link, deactivates its key, and closes it", async () => {
    await open("/admin");
    await page.getByRole("link", { name: "Accounts" }).click();
    await page.getByLabel("Account", { exact: true }).fill("nobody@example.com");
    await act("Find").click();
    await page.getByText("No account is found by “nobody@example.com”.").waitFor();
    await looksRight("accounts");
    await page.getByLabel("Account", { exact: true }).fill(shortUrl);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "member-1@example.com", level: 1 }).waitFor();
    await looksRight("account");
    await page.setViewportSize({ width: 390, height: 844 });
    const width = "document.documentElement.scrollWidth";
    expect(await page.evaluate(width)).toBe(390);
    await looksRight("account-narrow");
    await page.setViewportSize({ width: 1280, height: 800 });
    await confirm("Deactivate", "Deactivate key");
    await page.getByText("The key is deactivated").waitFor();
    await page.getByLabel("Type the account's e-mail address").fill("member-1@example.com");
    await act("Close this account for good").click();
    await page.getByText("The account is closed").waitFor();
    await looksRight("account-closed");
    await until("the acts", async () => {
      await open("/admin");
      return (await page.getByRole("link", { name: "AccountClosed" }).count()) === 1;
    });
  });

  it("leaves a record of all of it, and signs out", async () => {
    await open("/admin");
    const acts = page.getByRole("table", { name: "What the operator did, newest first" });
    expect((await acts.locator("strong").allTextContents()).slice(0, 10)).toEqual([
      "PersonRemoved",
      "AccountClosed",
      "KeyDeactivated",
      "LinkUnblocked",
      "LinkBlocked",
      "ClicksRestored",
      "ClicksWithdrawn",
      "ProjectionRolledBack",
      "ProjectionRebuildRequested",
      "ProjectionRebuildRequested",
    ]);
    await looksRight("overview");
    await page.getByRole("button", { name: /^Colours: system/ }).click();
    await page.getByRole("button", { name: /^Colours: dark/ }).waitFor();
    await open("/admin/projections");
    await looksRight("projections-dark");
    await page.setViewportSize({ width: 390, height: 844 });
    await open("/admin/projections/lifecycle");
    await looksRight("projection-narrow");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out.").waitFor();
    await open("/admin");
    expect(page.url()).toContain("/admin/sign-in");
    expect(complaints).toEqual([]);
  });
});
