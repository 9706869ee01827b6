// Shlink's redirect rules, and the destinations by device that it had before 4.0, as rules of ours.

import type { TimeZone } from "../../../queries/analytics/time-zone.ts";
import { isObject } from "../../../runtime/is-object.ts";
import { Refused } from "../../../runtime/refused.ts";
import { requiredText, text, timeOf } from "../fields.ts";
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

/**
 * Of `GET /rest/v3/short-urls/{shortCode}/redirect-rules`.
 * @throws record_refused for what rules here can't say
 */
export function rulesOfShlink(given: unknown, zone: TimeZone | undefined): ImportedRule[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || !given.every(isObject)) throw refused("redirectRules are no list of rules");
  const priority = (rule: Fields) => Number(text(rule, "priority") ?? 0);
  return given
    .toSorted((a, b) => priority(a) - priority(b))
    .map((rule) => ({ when: conditionsOf(rule.conditions, zone), url: requiredText(rule, "longUrl") }));
}

/** @throws record_refused for another device */
export function rulesOfDevices(given: unknown): ImportedRule[] {
  if (!isObject(given)) return [];
  const devices = Object.keys(given).filter((device) => given[device]);
  return devices.map((device) => ({
    when: conditionOf({ type: "device", matchValue: device }, undefined),
    url: requiredText(given, device),
  }));
}

/** All of them have to fit. @throws record_refused also for two of a kind, which one condition here can't say */
function conditionsOf(given: unknown, zone: TimeZone | undefined): Conditions {
  if (!Array.isArray(given) || given.length === 0) throw refused("a redirect rule has no conditions");
  const all: Conditions = {};
  for (const condition of given) {
    const { query, ...one } = conditionOf(condition, zone);
    const twice = [
      ...Object.keys(one).filter((kind) => kind in all),
      ...Object.keys(query ?? {}).filter(isSet),
    ];
    if (twice.length > 0) throw refused(`a redirect rule has several conditions on ${twice[0]}`);
    Object.assign(all, one, query && { query: { ...all.query, ...query } });
  }
  return all;

  function isSet(name: string): boolean {
    return all.query !== undefined && Object.hasOwn(all.query, name);
  }
}

function conditionOf(condition: unknown, zone: TimeZone | undefined): Conditions {
  const given = isObject(condition) ? condition : {};
  const type = text(given, "type") ?? "none";
  const value = () => requiredText(given, "matchValue");
  const name = () => requiredText(given, "matchKey", "matchValue");
  switch (type) {
    case "device": {
      const device = DEVICES.get(value().toLowerCase());
      if (!device) throw refused(`a redirect rule is for the device ${value()}`);
      return device;
    }
    case "language":
      return { language: [value()] };
    // `query` until Shlink 4.0.
    case "query":
    case "query-param":
      return { query: { [requiredText(given, "matchKey")]: text(given, "matchValue") ?? "" } };
    case "any-value-query-param":
      return { query: { [name()]: true } };
    case "valueless-query-param":
      return { query: { [name()]: "" } };
    case "geolocation-country-code":
      return { country: [value().toUpperCase()] };
    case "before-date":
      return { to: timeOf(value(), zone) };
    case "after-date":
      return { from: timeOf(value(), zone) };
    default:
      throw refused(`it has redirect rules by ${type}, which links here can't have`);
  }
}

function refused(why: string): Refused {
  return new Refused("record_refused", why);
}
