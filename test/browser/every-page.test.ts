// Every page of the portal that an address alone opens can be used by everybody, at a desk and on a phone, with scripts and
// without.
import { beforeAll, expect, it } from "vitest";
import { inChromiumAtLength, PATIENCE_MS, portalBrowser } from "../support/portal/portal-browser.ts";
import { listPortalRoutes } from "../support/portal/portal-routes.ts";
import { DESK_AND_PHONE, unusable } from "../support/servers/chromium.ts";

const LONG = `https://example.com/${"a-very-long-path-without-an-end/".repeat(12)}`;
/** What is no page: files, streams, and what a mailed or signed token opens. */
const NO_PAGE =
  /assets|invitation|sign-in\/link|export|\.csv|\.ndjson|\/live|confirm|finish|choose|names|:token|:hostname|logo|favicon|icon|robots|\.zip/;

inChromiumAtLength(() => {
  const portal = portalBrowser({ BASE_HOST_SLUGS: "true" });
  let pages: string[];
  beforeAll(async () => {
    const routes = await listPortalRoutes();
    pages = routes
      .filter(({ method, url }) => method === "GET" && !NO_PAGE.test(url) && !url.startsWith("/admin"))
      .map(({ url }) => url.replace(":host", "localhost").replace(":slug", "spring"))
      .filter((url) => !url.includes(":") && !url.includes("*"));
  });

  it("is usable, with what a link with visits shows", { timeout: 4 * PATIENCE_MS }, async () => {
    expect(pages.length).toBeGreaterThan(15);
    const page = await portal.developer();
    await page.goto(`${portal.base}/portal/links/new`);
    await page.getByLabel("Destination").fill(LONG);
    await page.getByLabel("Slug").fill("spring");
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByText("/spring is ready").waitFor();
    for (let visit = 0; visit < 3; visit++) await portal.follow(`${portal.base}/spring`);
    for (const path of pages) {
      const answer = await page.goto(`${portal.base}${path}`);
      expect.soft(answer?.status(), path).toBeLessThan(400);
      expect.soft(await unusable(page, DESK_AND_PHONE), path).toEqual([]);
    }
  });
});
