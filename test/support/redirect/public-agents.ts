// Reads the user agents of public lists from the packages that ship them, with what each list says of them.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const { resolve } = createRequire(import.meta.url);

export type Listed = {
  userAgent: string;
  /** What the list calls it, such as `Chrome Mobile` or `Googlebot`. */
  name: string;
  kind: "browser" | "bot" | "other";
};

/** The fixtures of Matomo's Device Detector, of 2018. isbot was made from its bots, not from its browsers. */
export function deviceDetectorAgents(): Listed[] {
  const folder = join(dirname(resolve("node-device-detector/package.json")), "tests/fixtures/tests");
  return readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), "utf8")
      .split(/^- *$/m)
      .slice(1)
      .map((entry) => ({
        userAgent: field(entry, /^ {2}user_agent: (.*)$/m),
        name: field(entry, /^ {4}name: (.*)$/m),
        kind: file === "bots.yml" ? "bot" : /^ {4}type: browser$/m.test(entry) ? "browser" : "other",
      })),
  );
}

/** The tests of uap-core, the list behind most parsers of user agents. isbot was not made from it. */
export function uapCoreAgents(): Listed[] {
  const folder = dirname(resolve("@financial-times/useragent_parser/package.json"));
  const tests = readFileSync(join(folder, "test/ua.test.js"), "utf8");
  const parsed = tests.matchAll(/uaParser\((".*")\);\s*assert\.strictEqual\(results\.family, "(.*?)"/g);
  return [...parsed].map(([, userAgent = '""', name = ""]) => ({
    userAgent: JSON.parse(userAgent),
    name,
    kind: BOT.test(name) ? "bot" : BROWSER.test(name) ? "browser" : "other",
  }));
}

const BOT = /(?<!cu)bot|crawl|spider|slurp|nutch|archiver|scrape|monitor/i;
const BROWSER =
  /^(IE|Edge|Firefox|Chrome|Chromium|Safari|Mobile Safari|Opera|Brave|Vivaldi|Whale|Puffin|Facebook|Instagram|LINE)\b|Browser/;

/** 10,000 visits of people to websites, of this year. isbot's own tests draw from it. */
export function visitors(): string[] {
  const list = readFileSync(join(dirname(resolve("user-agents")), "user-agents.json"), "utf8");
  return JSON.parse(list).map(({ userAgent }: { userAgent: string }) => userAgent);
}

/** One of the lists of crawlers that isbot was made from. */
export function crawlers(): string[] {
  const list = readFileSync(resolve("crawler-user-agents"), "utf8");
  return JSON.parse(list).flatMap(({ instances }: { instances: string[] }) => instances);
}

function field(entry: string, pattern: RegExp): string {
  const text = entry.match(pattern)?.[1]?.trim() ?? "";
  const [quoted, inside] = text.match(/^(["'])(.*)\1$/)?.slice(1) ?? [];
  if (quoted === undefined || inside === undefined) return text;
  return quoted === "'" ? inside.replaceAll("''", "'") : JSON.parse(text);
}
