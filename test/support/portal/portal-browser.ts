// A service and a real browser for tests of the portal's pages, and people who have signed up by typing.
import type { Browser, BrowserContext, BrowserContextOptions, Page, Response } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { until } from "../runtime/until.ts";
import { chromiumServer, launchChromium } from "../servers/chromium.ts";
import { freePort } from "../servers/free-port.ts";
import { onServer, onServerAtLength } from "../servers/test-servers.ts";
import { startTestService, type TestService } from "../service/start-service.ts";
import { FIREFOX, PASSWORD } from "./browser-like.ts";

/** Of a test. */
export const PATIENCE_MS = 90_000;
/** How often pages with live numbers ask for them. */
const LIVE_MS = 5_000;
/** With the account in its address. */
export const DASHBOARD = /\/portal\/[0-9a-f-]{36}$/;
/** Timeout of one step. */
const STEP_MS = 30_000;

type PortalBrowser = {
  base: string;
  service: TestService;
  /** A page at `/` in a new browser profile. */
  visitor(options?: BrowserContextOptions): Promise<Page>;
  /** A visitor who has signed up. */
  member(options?: BrowserContextOptions): Promise<Page>;
  /** A member on the Developer plan. */
  developer(options?: BrowserContextOptions): Promise<Page>;
  accountOf(page: Page): Promise<string>;
  /** Requests a short link from outside the browser. */
  follow(url: string): Promise<globalThis.Response>;
};

/** Tests of pages; one skipped test where there is no Chromium. */
export function inChromium(suite: () => void): void {
  onServer(chromiumServer, () => describe("in Chromium", { timeout: PATIENCE_MS }, suite));
}

/** The same, in the long form alone. */
export function inChromiumAtLength(suite: () => void): void {
  onServerAtLength(chromiumServer, () => describe("in Chromium", { timeout: PATIENCE_MS }, suite));
}

/**
 * Opens the page once `isShown` accepts its text. Polls outside the browser, because an open page with live numbers
 * reloads itself when they change, which would interrupt the steps that follow.
 */
export async function showing(
  page: Page,
  url: string,
  what: string,
  isShown: (text: string) => boolean,
): Promise<void> {
  await until(`${url} to show ${what}`, async () => isShown(await (await page.request.get(url)).text()));
  await page.goto(url);
}

/** The next answer by which an open page keeps itself up to date; its clock, installed before, runs ahead to it. */
export async function refreshed(page: Page): Promise<Response> {
  const answer = page.waitForResponse((response) => response.request().resourceType() === "fetch");
  await page.clock.fastForward(LIVE_MS);
  return await answer;
}

/** The numbers of the link whose page is at the address. */
export function analyticsOf(base: string, page: string): string {
  return `${base}/portal/analytics?link=localhost/${page.split("/").at(-1)}`;
}

/**
 * Registers the hooks that open a service and a browser before the suite's tests, and close them after. `environment`: of
 * the service; a function where an earlier hook makes it.
 */
export function portalBrowser(
  environment: Record<string, string> | (() => Record<string, string>) = {},
): PortalBrowser {
  const contexts: BrowserContext[] = [];
  let people = 0;
  let base: string;
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    const port = String(await freePort());
    base = `http://localhost:${port}`;
    const settings = typeof environment === "function" ? environment() : environment;
    service = await startTestService({ PORT: port, BASE_URL: base, ...settings });
    browser = await launchChromium();
  });
  afterAll(async () => {
    for (const context of contexts) await context.close();
    await browser?.close();
    await service?.stop();
  });

  async function visitor(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MS);
    await page.goto(base);
    return page;
  }

  async function accountOf(page: Page): Promise<string> {
    const session = (await page.context().cookies()).find(({ name }) => name.endsWith("session"));
    return session?.value.split(".")[0] ?? "";
  }

  async function member(options?: BrowserContextOptions) {
    people += 1;
    const page = await visitor(options);
    await page.goto(`${base}/portal/sign-up`);
    await page.getByLabel("E-mail").fill(`someone-${people}@example.com`);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForURL(DASHBOARD);
    return page;
  }

  return {
    get base() {
      return base;
    },
    get service() {
      return service;
    },
    visitor,
    accountOf,
    member,
    async developer(options) {
      const page = await member(options);
      await service.changeTier(await accountOf(page), "developer");
      await showing(page, `${base}/portal`, "the Developer plan", (text) => text.includes(">Developer<"));
      return page;
    },
    follow: (url) => fetch(url, { redirect: "manual", headers: { "user-agent": FIREFOX } }),
  };
}
