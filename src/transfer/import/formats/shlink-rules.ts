// Shlink's redirect rules, and the destinations by device that it had before 4.0, as rules of ours.

import type { TimeZone } from "../../../queries/analytics/time-zone.ts";
import { Failure } from "../../../runtime/errors.ts";
import { isObject } from "../../../runtime/is-object.ts";
import { requiredText, textOf, timeOf } from "../fields.ts";
import type { Fields, ImportedRule } from "../imported.ts";

type Conditions = ImportedRule["when"];

const MOBILE = ["mobile", "tablet"] as const;
/** The DeviceType of Shlink 5. */
const DEVICES = new Map<string, Conditions>(
  Object.entries({
    android: { os: ["Android"] },
    ios: { os: ["iOS"] },
    mobile: { device: [...MOBILE] },
    windows: { os: ["Windows"] },
    macos: { os: ["Mac OS"] },
    linux: { os: ["Linux", "Ubuntu", "Debian", "Fedora"] },
    chromeos: { os: ["Chromium OS"] },
    desktop: { device: ["desktop"] },
  }),
);

/** What a condition says here. @throws Failure */
type Translate = (condition: Fields, zone: TimeZone | undefined) => Conditions;

const wantedOf = (condition: Fields) => requiredText(condition, ["matchValue"]);
const nameOf = (condition: Fields) => requiredText(condition, ["matchKey", "matchValue"]);

const byQuery: Translate = (condition) => ({
  query: { [requiredText(condition, ["matchKey"])]: textOf(condition, ["matchValue"]) ?? "" },
});

const CONDITIONS = new Map<string, Translate>(
  Object.entries<Translate>({
    device: (condition) => deviceOf(wantedOf(condition)),
    language: (condition) => ({ language: [wantedOf(condition)] }),
    // `query` until Shlink 4.0.
    query: byQuery,
    "query-param": byQuery,
    "any-value-query-param": (condition) => ({ query: { [nameOf(condition)]: true } }),
    "valueless-query-param": (condition) => ({ query: { [nameOf(condition)]: "" } }),
    "geolocation-country-code": (condition) => ({ country: [wantedOf(condition).toUpperCase()] }),
    "before-date": (condition, zone) => ({ to: timeOf(wantedOf(condition), zone) }),
    "after-date": (condition, zone) => ({ from: timeOf(wantedOf(condition), zone) }),
  }),
);

/**
 * As `GET /rest/v3/short-urls/{shortCode}/redirect-rules` answers them.
 * @throws Failure for what rules here can't say
 */
export function rulesOfShlink(rules: unknown, zone: TimeZone | undefined): ImportedRule[] {
  if (rules === undefined || rules === null) return [];
  if (!Array.isArray(rules) || !rules.every(isObject)) throw refused("redirectRules are no list of rules");
  const priority = (rule: Fields) => Number(textOf(rule, ["priority"]) ?? 0);
  return rules
    .toSorted((a, b) => priority(a) - priority(b))
    .map((rule) => ({ when: conditionsOf(rule.conditions, zone), url: requiredText(rule, ["longUrl"]) }));
}

/** @throws Failure for another device */
export function rulesOfDevices(destinations: unknown): ImportedRule[] {
  if (!isObject(destinations)) return [];
  const devices = Object.keys(destinations).filter((device) => destinations[device]);
  return devices.map((device) => ({ when: deviceOf(device), url: requiredText(destinations, [device]) }));
}

/** All of them have to fit. @throws Failure also for two of a kind, which one condition here can't say */
function conditionsOf(conditions: unknown, zone: TimeZone | undefined): Conditions {
  if (!Array.isArray(conditions) || conditions.length === 0)
    throw refused("a redirect rule has no conditions");
  const all: Conditions = {};
  for (const condition of conditions) {
    const { query, ...others } = conditionOf(isObject(condition) ? condition : {}, zone);
    const isSet = (name: string) => all.query !== undefined && Object.hasOwn(all.query, name);
    const twice = Object.keys(others).find((kind) => kind in all) ?? Object.keys(query ?? {}).find(isSet);
    if (twice !== undefined) throw refused(`a redirect rule has several conditions on ${twice}`);
    Object.assign(all, others, query && { query: { ...all.query, ...query } });
  }
  return all;
}

function conditionOf(condition: Fields, zone: TimeZone | undefined): Conditions {
  const type = textOf(condition, ["type"]) ?? "none";
  const translate = CONDITIONS.get(type);
  if (!translate) throw refused(`it has redirect rules by ${type}, which links here can't have`);
  return translate(condition, zone);
}

function deviceOf(name: string): Conditions {
  const device = DEVICES.get(name.toLowerCase());
  if (!device) throw refused(`a redirect rule is for the device ${name}`);
  return device;
}

function refused(why: string): Failure {
  return new Failure(why);
}
