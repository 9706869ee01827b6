// The page that asks for a link's password, in a real browser: keyboard, small screens, accessibility (axe), no scripts.
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { inChromium, portalBrowser } from "../support/portal/portal-browser.ts";
import { complaintsOf, seriousViolations } from "../support/servers/chromium.ts";

const DESTINATION = "https://example.com/secret-place";

inChromium(() => {
  const portal = portalBrowser();
  let link: string;

  beforeAll(async () => {
    const { service, base } = portal;
    const { key } = await service.member("developer");
    const request = { url: DESTINATION, password: "open sesame", redirect_code: 307 };
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, request);
    link = `${base}/${body.slug}?utm_source=poster`;
  });

  it.each(["light", "dark"] as const)(
    "is passed by keyboard on a phone, in %s colours, and not shown again",
    async (colorScheme) => {
      const page = await portal.visitor({ viewport: { width: 390, height: 844 }, colorScheme });
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
    },
  );

  /** What the destination is asked, whether or not it can be reached from here. */
  async function ledFrom(page: Page) {
    const request = await page.waitForRequest(DESTINATION);
    const { referer } = request.headers();
    return { method: request.method(), body: request.postData(), referer };
  }
});
