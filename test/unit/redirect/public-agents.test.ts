// Whether public lists of browsers count as people and public lists of crawlers as programs.
import fc from "fast-check";
import { isbot } from "isbot";
import { describe, expect, it } from "vitest";
import { isAutomated } from "../../../src/events/classification/automated-agents.ts";
import {
  crawlers,
  deviceDetectorAgents,
  type Listed,
  uapCoreAgents,
  visitors,
} from "../../support/redirect/public-agents.ts";

/** Browsers since 2014; older ones can't open an https page of today, which needs TLS 1.2. */
const CAN_OPEN_A_PAGE =
  /\b(?:Chrome|CriOS|Chromium)\/(?:3\d|[4-9]\d|1\d\d)\.|\bFirefox\/(?:2[7-9]|[3-9]\d|1\d\d)\b|\bTrident\/7|\bAppleWebKit\/6\d\d/;

/** Why a browser of the lists still counts as a program. */
const LEFT: [RegExp, string][] = [
  [/Android [\d.]+; [^;()]*bot/i, "phones that are called a bot: isbot's list of crawlers has them, too"],
  [
    /\bms-office\b|\bMSOffice \d|\bMicrosoft Outlook\b/i,
    "Outlook asks itself, before it hands a link to the browser",
  ],
  [/^Mozilla\/5\.0\+\(/, "a log wrote + for each space; no browser sends that"],
];

const ofKind = (agents: Listed[], kind: Listed["kind"]) =>
  agents.filter((agent) => agent.kind === kind).map(({ userAgent }) => userAgent);

const deviceDetector = deviceDetectorAgents();
const uapCore = uapCoreAgents();

describe("the browsers of public lists", () => {
  const listed = [...new Set([...ofKind(deviceDetector, "browser"), ...ofKind(uapCore, "browser")])];
  const browsers = [...listed.filter((userAgent) => CAN_OPEN_A_PAGE.test(userAgent)), ...visitors()];
  const left = browsers.filter(isAutomated);

  it("count as people, 999 of 1,000 at least", () => {
    expect(browsers.length).toBeGreaterThan(12_000);
    expect(left.length / browsers.length).toBeLessThan(0.001);
  });

  it("are programs for no reason but those that we know", () => {
    expect(left.filter((userAgent) => !LEFT.some(([pattern]) => pattern.test(userAgent)))).toEqual([]);
  });
});

/** What a list of crawlers has by mistake. */
const PEOPLE: [RegExp, string][] = [
  [/\bInstagram \d|\bMetaIAB\b/, "browsers inside of apps, in which people follow links"],
  [/\bFluid\//, "a Mac's browser for one site"],
];

describe("programs", () => {
  it("are none of them people, by a list that is kept", () => {
    const programs = crawlers();
    expect(programs.length).toBeGreaterThan(2_100);
    const taken = programs.filter((userAgent) => !isAutomated(userAgent));
    expect(taken.filter((userAgent) => !PEOPLE.some(([pattern]) => pattern.test(userAgent)))).toEqual([]);
    for (const [pattern] of PEOPLE) expect(taken.some((userAgent) => pattern.test(userAgent))).toBe(true);
  });

  it("stay programs inside of any browser's name", () => {
    const marks = fc.constantFrom(
      ...["ms-office", "MSOffice 16", "Microsoft Outlook 16.0.17328", "Amzn-User/0.1", "Claude-User/1.0"],
      ...[
        "GTmetrix",
        "DebugBear",
        "Sitespeed.io",
        "Claude/1.0 Electron/38.1.0",
        "Cursor/2.0.4 Electron/37.2.1",
      ],
    );
    const browsers = fc.constantFrom(...visitors());
    const places = fc.constantFrom(
      (browser: string, mark: string) => `${browser} ${mark}`,
      (browser: string, mark: string) => browser.replace(")", `; ${mark})`),
      (browser: string, mark: string) =>
        browser.replace(/ (?=Chrome|Version|Mobile|Safari|Firefox|$)/, ` ${mark} `),
    );
    fc.assert(
      fc.property(browsers, marks, places, (browser, mark, place) => {
        expect(isAutomated(place(browser, mark))).toBe(true);
      }),
    );
  });
});

describe("the crawlers of public lists", () => {
  it.each([
    ["Device Detector", 350, ofKind(deviceDetector, "bot")],
    ["uap-core", 700, ofKind(uapCore, "bot")],
    ["crawler-user-agents", 2_000, crawlers()],
  ])("stay programs where isbot knows them: %s", (_, atLeast, listed) => {
    const known = listed.filter((userAgent) => isbot(userAgent));
    expect(known.length).toBeGreaterThan(atLeast);
    expect(known.filter((userAgent) => !isAutomated(userAgent))).toEqual([]);
  });
});
