// No page of the console is wider than its window, nor a table wider than its page, on a desk and on a phone.
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { ADMIN_TOKEN, operatorOf } from "../support/portal/operator.ts";
import { inChromiumAtLength, portalBrowser } from "../support/portal/portal-browser.ts";
import { until } from "../support/runtime/until.ts";
import { seriousViolations } from "../support/servers/chromium.ts";

/** As long as some apps' are. */
const AGENT = `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 ${"Instagram/335.1.8.26.85 (iPhone14,5; iOS 17_5; de_DE; scale=3.00; 1170x2532; 610043139) ".repeat(2)}`;
const LONG = `https://example.com/${"a-very-long-path-without-an-end/".repeat(12)}`;

inChromiumAtLength(() => {
  const portal = portalBrowser({ ADMIN_TOKEN });
  let page: Page;
  let paths: string[];

  beforeAll(async () => {
    const { service, base } = portal;
    const member = await service.member("developer");
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", member.key, { url: LONG });
    const { slug } = body;
    for (let n = 0; n < 3; n += 1) await service.ask(`/${slug}`, { headers: { "user-agent": AGENT } });
    const operator = operatorOf(service);
    type Found = { clicks: { total: number } };
    const explained = () => operator.get<Found>("/explain", { link: slug });
    await until("the clicks", async () => (await explained()).clicks.total === 3);
    await operator.post("/withdrawals", {
      ...{ link: slug, from: "2020-01-01", user_agent: "Instagram", reason: "an app that loads each link" },
    });
    await operator.post("/verification");
    type Run = { verification: { state: string } };
    await until("the verification", async () => {
      return (await operator.get<Run>("/verification")).verification.state === "done";
    });
    const stream = encodeURIComponent(`link-localhost/${slug}`);
    paths = [
      ...[
        "",
        "/people",
        "/streams",
        "/streams?category=link",
        "/streams?category=clicks",
        `/stream?name=${stream}`,
      ],
      ...[`/event?stream=${stream}&revision=0`, `/state?stream=${stream}`, "/events", "/log"],
      ...["/clicks", `/clicks?link=${slug}`, `/explain?link=${slug}`, `/withdrawals?link=${slug}`],
      ...[`/withdrawals?link=${slug}&from=2020-01-01`, "/seals", "/projections", "/projections/lifecycle"],
    ];
    page = await portal.visitor();
    await page.goto(`${base}/admin`);
    await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Console", level: 1 }).waitFor();
  });

  it.each([1280, 390])("fits at %s px", async (width) => {
    await page.setViewportSize({ width, height: 900 });
    for (const path of paths) {
      await page.goto(`${portal.base}/admin${path}`);
      const wider =
        await page.evaluate(`[document.documentElement, ...document.querySelectorAll("main .card")]
        .map((box) => box.scrollWidth - box.clientWidth)
        .concat([...document.querySelectorAll("table")].map((table) =>
          Math.round(table.getBoundingClientRect().right - table.parentElement.getBoundingClientRect().right)))
        .filter((excess) => excess > 0)`);
      expect([path, wider]).toEqual([path, []]);
      // A row of fields is no taller than they are: a basis of a flexible column once left a hole of 430 px.
      const row = await page
        .locator("form.form-row")
        .first()
        .boundingBox({ timeout: 1_000 })
        .catch(() => null);
      if (width === 1280) expect([path, (row?.height ?? 0) < 200]).toEqual([path, true]);
    }
  });

  it.each(["light", "dark"] as const)("explains a link legibly, %s", async (scheme) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(`${portal.base}/admin${paths.find((path) => path.startsWith("/explain"))}`);
    expect(await seriousViolations(page)).toEqual([]);
  });
});
