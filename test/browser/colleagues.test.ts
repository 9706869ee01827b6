// An owner with two colleagues in a real browser: invites them, they accept and make links, a role is lowered, the history says who
// did it, one of them leaves; and who has two accounts switches between them.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { PASSWORD } from "../support/portal/browser-like.ts";
import { DASHBOARD, inChromium, PATIENCE_MS, portalBrowser } from "../support/portal/portal-browser.ts";
import { complaintsOf, DESK_AND_PHONE, unusable } from "../support/servers/chromium.ts";

inChromium(() => {
  const portal = portalBrowser();

  /** The link that the page shows to hand over. */
  async function invited(owner: Page, email: string, role: string): Promise<string> {
    await owner.getByRole("link", { name: "Members" }).click();
    await owner.getByLabel("E-mail address").fill(email);
    await owner.locator("#field-role").selectOption(role);
    await owner.getByRole("button", { name: "Invite", exact: true }).click();
    await owner.getByRole("heading", { name: `Give this link to ${email}` }).waitFor();
    return (await owner.locator("#invitation").textContent()) ?? "";
  }

  it("share an account, each within their role", { timeout: 2 * PATIENCE_MS }, async () => {
    const owner = await portal.member();
    const complaints = complaintsOf(owner);
    const account = owner.url();
    const ofEditor = await invited(owner, "editor@example.com", "editor");
    expect(await unusable(owner, DESK_AND_PHONE)).toEqual([]);

    const editor = await portal.visitor();
    await editor.goto(ofEditor);
    await editor.getByText("as editor, for editor@example.com").waitFor();
    await editor.getByLabel("Password").fill(PASSWORD);
    await editor.getByRole("button", { name: "Accept the invitation" }).click();
    await editor.getByText("you are a member now").waitFor();
    expect(editor.url()).toBe(account);
    await editor.getByLabel("Destination").fill("https://example.com/by-the-editor");
    await editor.keyboard.press("Enter");
    await editor.getByText("is ready").waitFor();
    const link = editor.url();

    // Somebody with an account of their own, signed in with another address first.
    const viewer = await portal.member();
    const own = viewer.url();
    await viewer.goto(await invited(owner, "else@example.com", "viewer"));
    await viewer.getByText("You are signed in as").waitFor();
    await viewer.getByText("ask for an invitation to someone-").waitFor();
    await viewer.goto(await invited(owner, "someone-2@example.com", "viewer"));
    await viewer.getByRole("button", { name: "Accept the invitation" }).click();
    await viewer.getByText("You are a member of this account now").waitFor();
    expect(viewer.url()).toBe(account);
    await viewer.goto(link);
    await viewer.getByText("editor@example.com created this link").waitFor();
    for (const name of ["Edit", "New link", "API keys", "Domains", "Save changes", "Disable link"])
      expect([name, await viewer.getByText(name, { exact: true }).count()]).toEqual([name, 0]);
    expect(await unusable(viewer, DESK_AND_PHONE)).toEqual([]);
    await viewer.getByRole("link", { name: "Links", exact: true }).first().click();
    await viewer.setViewportSize({ width: 390, height: 844 });
    await viewer.getByLabel("Account: someone-1@example.com").click();
    expect(await unusable(viewer)).toEqual([]);
    await viewer.setViewportSize({ width: 1280, height: 900 });
    await viewer.getByLabel("Your accounts").getByRole("link", { name: "someone-2@example.com" }).click();
    await viewer.waitForURL(own);
    await viewer.getByText("Make your first short link").waitFor();

    await editor.getByText("Edit link").waitFor();
    await owner.getByRole("link", { name: "Members" }).click();
    const row = owner.getByRole("row", { name: /editor@example.com/ });
    await row.getByRole("button", { name: "Change role" }).click();
    await owner.locator("[popover]:popover-open").getByLabel("Role").selectOption("viewer");
    await owner.locator("[popover]:popover-open").getByRole("button", { name: "Change role" }).click();
    await owner.getByText("editor@example.com is viewer now").waitFor();
    await editor.getByLabel("Title").fill("Typed before the role was lowered");
    await editor.getByRole("button", { name: "Save changes" }).click();
    await editor.getByText("Your role in this account doesn't allow this").waitFor();
    await editor.goto(account);
    await editor.getByText("You are viewer of someone-1@example.com now").waitFor();
    await editor.getByRole("button", { name: "Dismiss" }).click();
    await editor.getByRole("button", { name: "Dismiss" }).waitFor({ state: "detached" });
    await owner.goto(link);
    await owner.getByText("editor@example.com created this link").waitFor();

    await owner.getByRole("link", { name: "Members" }).click();
    await row.getByRole("button", { name: "Remove" }).click();
    await owner.getByRole("button", { name: "Remove from the account" }).click();
    await owner.getByText("The membership has ended").waitFor();
    await editor.goto(link);
    await editor.getByText("You are not a member of this account").waitFor();
    expect(await editor.content()).not.toContain("by-the-editor");
    await editor.goto(`${portal.base}/portal`);
    await editor.getByRole("button", { name: "Open an account" }).click();
    await editor.waitForURL(DASHBOARD);
    await editor.getByText("you are its owner").waitFor();
    await viewer.goto(link);
    await viewer.getByText("editor@example.com created this link").waitFor();
    expect(complaints).toEqual([]);
  });
});
