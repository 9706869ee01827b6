// A real headless Chromium for the tests of pages; without one they are skipped, and say so.
import { existsSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, chromium, type Page } from "playwright-core";
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

export async function launchChromium(): Promise<Browser> {
  if (!executablePath) throw new Error("no chromium");
  return await chromium.launch({ executablePath, args: ["--no-sandbox"] });
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

/** Serious and critical violations of the WCAG rules that axe knows, one line each. */
export async function seriousViolations(page: Page): Promise<string[]> {
  // Our pages have no frames, and without them no further page need be opened to gather what was found.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
}
