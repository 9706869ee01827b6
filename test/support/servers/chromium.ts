// A real headless Chromium for the tests of pages; without one they are skipped, and say so.
import { existsSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, chromium, type Page } from "playwright-core";
import { isLong } from "../runtime/effort.ts";
import type { Server } from "./test-servers.ts";

const PATHS = [
  process.env.CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

const executablePath = PATHS.find((path) => path !== "" && existsSync(path));

/** For `onServer`. */
export const chromiumServer: Server = {
  name: "Chromium",
  reason: executablePath ? undefined : "no chromium found: install it, or set CHROMIUM to its path",
};

export async function launchChromium(...args: string[]): Promise<Browser> {
  if (!executablePath) throw new Error("no chromium");
  return await chromium.launch({ executablePath, args: ["--no-sandbox", ...args] });
}

/** What the page's scripts complain of, as it comes. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  return complaints;
}

/** What may be wrong in one look of a page alone: its colours, and what scrolls on a narrow screen. */
const OF_LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable"];

/** Serious and critical violations of the WCAG rules that axe knows, one line each. `rules`: of these alone. */
export async function seriousViolations(page: Page, rules?: string[]): Promise<string[]> {
  // Our pages have no frames, and without them no further page need be opened to gather what was found.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
}

/** Widths for `unusable`: a desk by day, a phone by night. */
export const DESK_AND_PHONE = { light: 1280, dark: 390 };

/**
 * What somebody can't use of the page, one line each, as `light` and then as `dark` show it; the second is asked what can
 * differ from the first. Without widths, that of the window stays.
 */
export async function unusable(page: Page, widths?: { light: number; dark: number }): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    if (widths) await page.setViewportSize({ width: widths[colorScheme], height: 844 });
    const rules = colorScheme === "dark" && !(isLong && widths) ? OF_LOOKS : undefined;
    for (const line of await seriousViolations(page, rules)) faults.push(`${colorScheme}: ${line}`);
    const overflow = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
    if (overflow > 0) faults.push(`${colorScheme}: ${overflow} pixels too wide`);
  }
  return faults;
}
