// The page that asks for a link's password, in a real browser: keyboard, small screens, accessibility (axe), no scripts.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  chromiumServer,
  complaintsOf,
  launchChromium,
  seriousViolations,
} from "../support/servers/chromium.ts";
import { freePort } from "../support/servers/free-port.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const DESTINATION = "https://example.com/secret-place";
const PATIENCE = 90_000;

onServer(chromiumServer, () => {
  let service: TestService;
  let browser: Browser;
  let link: string;

  beforeAll(async () => {
    const port = String(await freePort());
    const base = `http://localhost:${port}`;
    service = await startTestService({ PORT: port, BASE_URL: base });
    const { key } = await service.member("developer");
    const request = { url: DESTINATION, password: "open sesame", redirect_code: 307 };
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, request);
    link = `${base}/${body.slug}?utm_source=poster`;
    browser = await launchChromium();
  }, PATIENCE);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it.each(["light", "dark"] as const)(
    "is passed by keyboard on a phone, in %s colours, and not shown again",
    async (colorScheme) => {
      const context = await browser.newContext({
        ...{ viewport: { width: 390, height: 844 }, colorScheme },
      });
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      const complaints = complaintsOf(page);
      const expectGood = async () => {
        expect(await seriousViolations(page)).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
      };
      await page.goto(link);
      await expectGood();
      await page.keyboard.type("open");
      await page.keyboard.press("Enter");
      await page.getByText("This is not the password of this link").waitFor();
      expect(page.url()).toBe(link);
      await expectGood();
      const led = ledFrom(page);
      await page.keyboard.type("open sesame");
      await page.keyboard.press("Enter");
      expect(await led).toEqual({ method: "GET", body: null, referer: undefined });
      // The two pages are 401, which the console says; nothing else was wrong with them, nor refused by their own policy.
      expect(complaints.filter((text) => !text.includes("status of 401") && !text.includes("net::"))).toEqual(
        [],
      );
      const again = ledFrom(page);
      await page.goto(link).catch(() => undefined);
      expect(await again).toMatchObject({ method: "GET" });
      await context.close();
    },
  );

  /** What the destination is asked, whether or not it can be reached from here. */
  async function ledFrom(page: Page) {
    const request = await page.waitForRequest(DESTINATION);
    const { referer } = request.headers();
    return { method: request.method(), body: request.postData(), referer };
  }
});
