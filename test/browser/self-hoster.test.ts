// A self-hoster sets up single sign-on in a real browser: set wrong, then right, then the provider is gone. Nobody is locked out.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PASSWORD } from "../support/portal/browser-like.ts";
import { DASHBOARD, inChromium, PATIENCE_MS } from "../support/portal/portal-browser.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { launchChromium, seriousViolations } from "../support/servers/chromium.ts";
import { freePort } from "../support/servers/free-port.ts";
import { startTestService } from "../support/service/start-service.ts";
import { type LoopbackProvider, startProvider } from "../support/sign-in/openid-provider.ts";

const EMAIL = "anna@people.example";
const TOKEN = "an operator's token";

inChromium(() => {
  let browser: Browser;
  let provider: LoopbackProvider;
  let base: string;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    base = `http://localhost:${await freePort()}`;
    folder = await temporaryFolder();
    provider = await startProvider(`${base}/portal/oidc/callback`);
    browser = await launchChromium();
  }, PATIENCE_MS);
  afterAll(async () => {
    await browser?.close();
    await folder?.remove();
  });

  const serve = (issuer: string) =>
    startTestService({
      ...{ PORT: new URL(base).port, BASE_URL: base, DATA_DIR: folder.path, ADMIN_TOKEN: TOKEN },
      ...{ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: provider.clientId },
      ...{ OIDC_CLIENT_SECRET: provider.clientSecret, OIDC_NAME: "Acme" },
    });

  it("sets single sign-on wrong, then right, then loses the provider, and gets in all the time", {
    timeout: 3 * PATIENCE_MS,
  }, async () => {
    const page = await browser.newPage();
    const console = await (await browser.newContext()).newPage();

    const wrong = await serve(`${provider.issuer}/nothing-here`);
    await page.goto(`${base}/portal/sign-up`);
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForURL(DASHBOARD);
    await signOut(page);
    await fail(page);
    expect(await seriousViolations(page)).toEqual([]);
    await signInByPassword(page);
    await console.goto(`${base}/admin`);
    await console.getByLabel("token").fill(TOKEN);
    await console.keyboard.press("Enter");
    await console.getByRole("link", { name: "Sign-in", exact: true }).click();
    await console.getByText(`${provider.issuer}/nothing-here`).first().waitFor();
    expect(await seriousViolations(console)).toEqual([]);
    await wrong.stop();

    const right = await serve(provider.issuer);
    await page.goto(`${base}/portal/profile`);
    await page.getByRole("button", { name: "Link Acme" }).click();
    await page.getByRole("dialog").getByLabel("Your current password").fill(PASSWORD);
    await page.getByRole("button", { name: "Link it" }).click();
    await page.getByRole("link", { name: "Go on at Acme" }).click();
    await page.getByText("You sign in with Acme, too, from now on.").waitFor();
    await signOut(page);
    await page.getByRole("link", { name: "Sign in with Acme" }).click();
    await page.waitForURL(DASHBOARD);
    await page.goto(`${base}/portal/profile`);
    await page.getByRole("cell", { name: "Provider", exact: true }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("link", { name: "Sign out of Acme, too" }).waitFor();
    await right.stop();

    await provider.close();
    const alone = await serve(provider.issuer);
    await fail(page);
    await signInByPassword(page);
    const ready = await alone.ask<{ status: string }>("/health/ready");
    expect([ready.status, ready.body.status]).toEqual([200, "degraded"]);
    await alone.stop();
  });

  async function signOut(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByText("You are signed out.").waitFor();
  }

  /** The page says so, and the other ways are on it. */
  async function fail(page: Page): Promise<void> {
    await page.goto(`${base}/portal/sign-in`);
    await page.getByRole("link", { name: "Sign in with Acme" }).click();
    await page.getByText("The provider for signing in does not answer").waitFor();
  }

  async function signInByPassword(page: Page): Promise<void> {
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL(DASHBOARD);
  }
});
