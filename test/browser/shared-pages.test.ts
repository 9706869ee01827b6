// Sharing numbers in a real browser: a page for others, opened by somebody without an account, and a weekly mail.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stopLinks } from "../../src/commands/sharing/weekly-mails.ts";
import { secretKeysOf } from "../../src/config/config.ts";
import { PASSWORD } from "../support/portal/browser-like.ts";
import { DASHBOARD, inChromium, portalBrowser, showing } from "../support/portal/portal-browser.ts";
import { complaintsOf, DESK_AND_PHONE, unusable } from "../support/servers/chromium.ts";
import { linkIn, type MailReceiver, startMailReceiver } from "../support/servers/mail-receiver.ts";

inChromium(() => {
  let mails: MailReceiver;
  beforeAll(async () => {
    mails = await startMailReceiver();
  });
  afterAll(() => mails?.stop());
  const portal = portalBrowser(() => ({ SMTP_URL: mails.url, DEFAULT_TIER: "developer" }));

  async function looked(page: Page, name: string) {
    expect(await unusable(page, DESK_AND_PHONE), name).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 900 });
  }

  async function signedUp(): Promise<Page> {
    const page = await portal.visitor();
    await page.getByRole("link", { name: "Sign up" }).first().click();
    await page.getByLabel("E-mail").fill("boss@example.com");
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    await page.goto(portal.base + linkIn(await mails.next()));
    await page.getByLabel("Password").fill(PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForURL(DASHBOARD);
    return page;
  }

  it("makes a page with a password, shows it to a stranger, ends it; begins and stops a mail", async () => {
    const page = await signedUp();
    const complaints = complaintsOf(page);
    await page.getByLabel("Destination").fill("https://example.com/spring");
    await page.keyboard.press("Enter");
    const short =
      (await page
        .getByText(/^http:\/\/localhost:\d+\/\w+$/)
        .first()
        .textContent()) ?? "";
    for (let visit = 0; visit < 3; visit++) await portal.follow(short);
    await showing(page, `${portal.base}/portal/analytics`, "the visits", (text) =>
      text.includes('data-total="people">3<'),
    );
    await looked(page, "analytics-with-share");
    await page.getByRole("link", { name: "Share" }).click();
    await page.getByLabel("Name").first().fill("Spring sale");
    await page.getByText("Password, end, and what it shows").click();
    await page.getByLabel("Password").fill("open sesame");
    await page.getByLabel("Devices").uncheck();
    await looked(page, "share-form");
    await page.getByRole("button", { name: "Make the page" }).click();
    const address = (await page.getByText(/\/shared\//).textContent()) ?? "";
    await looked(page, "share-made");

    const stranger = await portal.visitor();
    // Of the landing page, which it has opened.
    await stranger.context().clearCookies();
    const complaintsOfStranger = complaintsOf(stranger);
    await stranger.goto(address);
    await looked(stranger, "shared-password");
    await stranger.getByLabel("Password").fill("close sesame");
    await stranger.keyboard.press("Enter");
    await stranger.getByText("This is not the password of this page").waitFor();
    await stranger.getByLabel("Password").fill("open sesame");
    await stranger.keyboard.press("Enter");
    await stranger.getByRole("heading", { name: "Spring sale" }).waitFor();
    await looked(stranger, "shared");
    await stranger.getByRole("link", { name: /^Direct/ }).click();
    await stranger.getByRole("list", { name: "Filters" }).getByText("Direct").waitFor();
    expect(await stranger.getByText("Firefox").count()).toBe(0);
    expect((await stranger.context().cookies()).map(({ name }) => name)).toEqual(["linkledger-link"]);

    await page.getByRole("link", { name: "Go to your shared pages" }).click();
    await page.getByLabel("Name").last().fill("The week");
    await page.getByRole("button", { name: "Begin the mail" }).click();
    await page.getByText("The mail comes on Mondays at 8:00.").waitFor();
    await looked(page, "share-list");
    await page.getByRole("button", { name: "End", exact: true }).click();
    await page.getByRole("button", { name: "End the page" }).click();
    await page.getByText("The page is ended").waitFor();
    await stranger.reload();
    await stranger.getByText("There is nothing here any more").waitFor();
    await looked(stranger, "shared-gone");

    const accountId = await portal.accountOf(page);
    const events = await portal.service.backend.eventStore.read(`account-${accountId}`);
    const { mailId } = (events.find(({ type }) => type === "WeeklyMailBegun")?.data ?? {}) as {
      mailId: string;
    };
    // What the mail has at its end.
    await stranger.goto(
      portal.base + stopLinks(secretKeysOf(portal.service.config)).path({ accountId, mailId }),
    );
    await looked(stranger, "stop-mail");
    await stranger.getByRole("button", { name: "Stop it" }).click();
    await stranger.getByText("This mail is stopped").waitFor();
    await page.reload();
    expect(await page.getByText("The week", { exact: true }).count()).toBe(0);
    expect(complaints).toEqual([]);
    expect(complaintsOfStranger.filter((text) => !/40[14]/.test(text))).toEqual([]);
  });
});
