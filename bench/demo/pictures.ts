// `npm run docs:pictures`: takes the pictures in docs/ anew, of a temporary instance with a month of clicks, in Chromium.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { PASSWORD } from "../../test/support/portal/browser-like.ts";
import { DASHBOARD } from "../../test/support/portal/portal-browser.ts";
import { launchChromium } from "../../test/support/servers/chromium.ts";
import { instanceOf, runCommand, startService } from "../../test/support/service/service-process.ts";
import { pastMonth } from "./past-month.ts";

/** What stands in the pictures, wherever they are taken. */
const HOST = "go.example";
const EMAIL = "anna@example.com";
const TABLE = [
  "Page,Name,Tags",
  "https://shop.example.com/shoes,Shoes,spring",
  "https://shop.example.com/hats,Hats,spring",
  "https://shop.example.com/scarves,Scarves,spring",
  "shop,Not an address,",
].join("\n");

const folder = await mkdtemp(join(tmpdir(), "linkledger-pictures-"));
const instance = await instanceOf(folder, {
  BASE_URL: `http://${HOST}`,
  BASE_HOST_SLUGS: "true",
  DEFAULT_TIER: "developer",
});
const service = await startService(instance);
const browser = await launchChromium(`--host-resolver-rules=MAP ${HOST} 127.0.0.1:${instance.PORT}`);
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`http://${HOST}/portal/sign-up`);
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(DASHBOARD);
  const file = join(folder, "month.ndjson");
  await writeFile(file, pastMonth(new Date()));
  await runCommand(instance, "import", "linkledger", file, "--account", EMAIL);
  await runCommand(instance, "audit", "seal");

  await take(page, "portal", "/portal/analytics?range=30d");
  await take(page, "link", `/portal/links/${HOST}/spring`);
  await take(page, "proof", `/portal/links/${HOST}/spring/explain`);

  await page.goto(`http://${HOST}/portal/links/new`);
  await page.getByLabel("Destination").fill("shop.example.com/app");
  await page.getByLabel("Slug").fill("app");
  await page.getByLabel("Title").fill("The app");
  await page.getByText("Rules by visitor and time").click();
  await page.getByRole("button", { name: "Add a rule" }).click();
  const rule = page.getByRole("group", { name: "Rule A", exact: true });
  await rule.getByLabel("Leads to").fill("shop.example.com/b");
  await rule.getByLabel("Share").fill("50");
  await page.getByText("Everybody else: 50 % of them to").waitFor();
  await page.evaluate("scrollTo(0, 0)");
  await take(page, "new-link");

  await page.goto(`http://${HOST}/portal/links/many`);
  await page.getByLabel("Addresses").fill(TABLE);
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("3 will be created").waitFor();
  await take(page, "many-links");
} finally {
  await browser.close();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}

/** `path`: opened first. */
async function take(page: Page, name: string, path?: string): Promise<void> {
  if (path !== undefined) await page.goto(`http://${HOST}${path}`);
  await page.screenshot({ path: fileURLToPath(new URL(`../../docs/${name}.png`, import.meta.url)) });
}
