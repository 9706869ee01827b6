// Passkeys in a real browser with a virtual authenticator: added, used, renamed, removed, and each way in which they fail.
import type { CDPSession, Page } from "playwright-core";
import { expect, it } from "vitest";
import { PASSWORD } from "../support/portal/browser-like.ts";
import { DASHBOARD, inChromium, PATIENCE_MS, portalBrowser } from "../support/portal/portal-browser.ts";
import { complaintsOf, seriousViolations } from "../support/servers/chromium.ts";

const timeout = 2 * PATIENCE_MS;

inChromium(() => {
  const portal = portalBrowser();

  it("are added, sign in without an address, are renamed and removed, and the last way in stays", {
    timeout,
  }, async () => {
    const page = await portal.member();
    const device = await authenticator(page);
    const complaints = complaintsOf(page);
    await add(page, "Laptop");
    await page.getByText("The passkey “Laptop” is added").waitFor();
    expect(await seriousViolations(page)).toEqual([]);

    await signOut(page);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.waitForURL(DASHBOARD);
    await page.goto(`${portal.base}/portal/profile`);
    await page.getByRole("cell", { name: "Passkey", exact: true }).waitFor();

    // Signed in a moment ago by a passkey: the password is not asked for.
    expect(await page.getByLabel("Your current password").count()).toBe(0);
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Old laptop");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await page.getByRole("cell", { name: "Old laptop" }).waitFor();
    await page.getByRole("button", { name: "Remove", exact: true }).first().click();
    await page.getByRole("button", { name: "Remove the password" }).click();
    await page.getByText("You sign in without one.").waitFor();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("button", { name: "Remove the passkey" }).click();
    await page.getByText("could not sign in any more without it").waitFor();

    await page.getByLabel("New password").fill(PASSWORD);
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByText("Your new password is set.").waitFor();
    await page.getByRole("button", { name: "Remove", exact: true }).last().click();
    await page.getByRole("button", { name: "Remove the passkey" }).click();
    await page.getByText("The passkey is removed").waitFor();
    // Its browser has been told.
    await expect.poll(async () => (await device.credentials()).length).toBe(0);
    // Of the last way in.
    expect(complaints.filter((complaint) => !complaint.includes("409"))).toEqual([]);
  });

  it("are refused without a finger, with another's signature, as a copy, and where there is none", {
    timeout,
  }, async () => {
    const page = await portal.member();
    const device = await authenticator(page);
    await add(page, "Key");
    await page.getByText("The passkey “Key” is added").waitFor();
    await signOut(page);
    const attempt = async (said: string) => {
      await page.goto(`${portal.base}/portal/sign-in`);
      await page.getByRole("button", { name: "Sign in with a passkey" }).click();
      await page.getByText(said).waitFor();
    };
    await device.send("WebAuthn.setUserVerified", { isUserVerified: false });
    await attempt("Nothing came of it");
    await device.send("WebAuthn.setUserVerified", { isUserVerified: true });
    await device.send("WebAuthn.setResponseOverrideBits", { isBogusSignature: true });
    await attempt("is not known here, or its answer is not valid");
    await device.send("WebAuthn.setResponseOverrideBits", { isBadUV: true });
    await attempt("is not known here, or its answer is not valid");
    await device.send("WebAuthn.setResponseOverrideBits", {});

    const [copy] = await device.credentials();
    for (let uses = 0; uses < 2; uses++) {
      await page.goto(`${portal.base}/portal/sign-in`);
      await page.getByRole("button", { name: "Sign in with a passkey" }).click();
      await page.waitForURL(DASHBOARD);
      await signOut(page);
    }
    await device.send("WebAuthn.removeCredential", { credentialId: copy?.credentialId });
    await device.send("WebAuthn.addCredential", { credential: { ...copy, signCount: 0 } });
    await attempt("was used elsewhere since, as a copy of it would be");
    await device.send("WebAuthn.clearCredentials");
    await attempt("Nothing came of it");
  });

  it("are told to browsers that have none", { timeout }, async () => {
    const page = await portal.visitor();
    await page.addInitScript("delete window.PublicKeyCredential");
    await page.goto(`${portal.base}/portal/sign-in`);
    await page.getByText("This browser has no passkeys").waitFor();
    await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  });

  async function add(page: Page, name: string): Promise<void> {
    await page.goto(`${portal.base}/portal/profile`);
    const form = page.locator("form[data-passkey]");
    await form.getByLabel("Name").fill(name);
    await form.getByLabel("Your current password").fill(PASSWORD);
    await form.getByRole("button").click();
  }

  async function signOut(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByText("You are signed out.").waitFor();
  }
});

/** Of the page's browser: one that keeps passkeys and checks a finger. */
async function authenticator(page: Page) {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const send = (method: Parameters<CDPSession["send"]>[0], about: object = {}) =>
    cdp.send(method, { authenticatorId, ...about } as never);
  return {
    send,
    credentials: async () => (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
  };
}
