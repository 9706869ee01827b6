// Which of a link's rules a visit is led by: the first whose conditions all fit. Pure.
import { systemsNamed } from "../../events/classification/systems.ts";
import type { LinkRule, RuleConditions } from "../../events/link-options.ts";
import type { DeviceType } from "../../events/vocabulary.ts";

/** What conditions are about; what takes time is worked out when a condition first reads it. */
export type Visit = {
  /** Milliseconds since 1970. */
  at: number;
  readonly device: DeviceType;
  /** As `systemOf` writes it. */
  readonly os: string;
  /** ISO 3166-1 alpha-2, or `unknown`. */
  readonly country: string;
  /** A language tag in lower case, or empty. */
  readonly language: string;
  /** Values by name, of the short URL's query. */
  readonly parameters: ReadonlyMap<string, ReadonlySet<string>>;
  /** In [0, 100), the same for one visitor, link and UTC day. */
  readonly lot: number;
};

/**
 * As compared: times in milliseconds since 1970. `share`: undefined for a rule that takes every visitor who fits.
 */
export type Conditions = Omit<RuleConditions, "os" | "query" | "from" | "to" | "share"> & {
  os: ReadonlySet<string> | undefined;
  query: readonly (readonly [name: string, value: string | true])[];
  from: number;
  to: number;
  share: number | undefined;
};

export function conditionsOf({ os, query, from, to, share, ...lists }: LinkRule["when"]): Conditions {
  return {
    ...lists,
    os: os && new Set(os.flatMap((name) => [...systemsNamed(name)])),
    query: query ?? [],
    from: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
    to: to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to),
    share,
  };
}

/**
 * Undefined when none fits. Shares add up from rule to rule, so that 30 and 30 are six visitors of ten: the lot of
 * each falls into one rule's share, or beyond all.
 */
export function firstRule<R extends { when: Conditions }>(rules: readonly R[], visit: Visit): R | undefined {
  let spent = 0;
  for (const rule of rules) {
    if (!fits(rule.when, visit)) continue;
    const { share } = rule.when;
    if (share === undefined) return rule;
    spent += share;
    if (visit.lot < spent) return rule;
  }
  return undefined;
}

/** Whether all but the share fit: what is read already first, the place of the address last. */
function fits({ from, to, query, language, device, os, country }: Conditions, visit: Visit): boolean {
  return (
    visit.at >= from &&
    visit.at < to &&
    query.every(([name, value]) => asks(visit.parameters, name, value)) &&
    (language === undefined || language.some((tag) => speaks(visit.language, tag))) &&
    (device === undefined || device.includes(visit.device)) &&
    (os === undefined || os.has(visit.os)) &&
    (country === undefined || country.includes(visit.country))
  );
}

function asks(parameters: Visit["parameters"], name: string, value: string | true): boolean {
  const values = parameters.get(name);
  return values !== undefined && (value === true || values.has(value));
}

/** `pt` is also `pt-br`; not the other way round (RFC 4647, 3.3.1). */
export function speaks(spoken: string, tag: string): boolean {
  return spoken === tag || spoken.startsWith(`${tag}-`);
}
