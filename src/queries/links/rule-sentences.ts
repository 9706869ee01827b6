// What a change of a link's rules did, rule by rule, so that a swapped destination is never behind "2 rules to 2 rules".
import type { FieldKind } from "../../commands/links/fields/link-fields.ts";
import type { ShownRule } from "../../commands/links/fields/rule-fields.ts";
import type { RuleConditions } from "../../events/link-options.ts";

/** Rules are told one by one, and a password is never shown. */
export type ValueKind = Exclude<FieldKind, "rules" | "password">;
/** Of which sentences about a link are made, so that a page shows each value in its own way. */
export type SentencePart = string | { kind: ValueKind; value: unknown };
/** What follows the actor, without a full stop: one clause for each change. */
export type Clause = readonly SentencePart[];

export const CONDITION_LABELS: Readonly<Record<keyof RuleConditions, string>> = {
  device: "Device",
  os: "OS",
  country: "Countries",
  language: "Languages",
  query: "Query",
  from: "From",
  to: "To",
  share: "Share",
};
export const CONDITION_NAMES = Object.keys(CONDITION_LABELS) as (keyof RuleConditions)[];

/** Such as "OS: iOS, Android · 50 % of visitors". */
export function conditionsInWords(when: ShownRule["when"]): Clause {
  const conditions = CONDITION_NAMES.filter((name) => when[name] !== undefined);
  return conditions.flatMap((name, n) => [...(n > 0 ? [" · "] : []), ...conditionInWords(name, when)]);
}

function conditionInWords(name: keyof RuleConditions, when: ShownRule["when"]): Clause {
  const label = CONDITION_LABELS[name];
  if (name === "share") return [`${when.share} % of visitors`];
  if (name === "from" || name === "to") return [`${label} `, { kind: "time", value: when[name] }];
  if (name !== "query") return [`${label}: ${when[name]?.join(", ")}`];
  const parameters = Object.entries(when.query ?? {});
  return parameters.flatMap(([parameter, value], n) => [
    n === 0 ? `${label}: ` : ", ",
    // Of the owner's own letters, which must not read as words of ours.
    { kind: "text", value: `${parameter}=${value === true ? "*" : value}` },
  ]);
}

type Placed = { rule: ShownRule; place: number };

/** Numbers of rules that the link has are those after the change, of removed ones those before it; of moved ones it says both. */
export function ruleClauses(before: readonly ShownRule[], after: readonly ShownRule[]): Clause[] {
  const [had, has] = [placed(before), placed(after)];
  const removed = [...had].filter(([key]) => !has.has(key));
  const clauses = removed.map(([, rule]): Clause => ["removed ", ...wholeRule(rule)]);
  const kept: Placed[] = [];
  const places: number[] = [];
  for (const [key, now] of has) {
    const was = had.get(key);
    if (!was) {
      clauses.push(["added ", ...wholeRule(now)]);
      continue;
    }
    clauses.push(...changesOfRule(was.rule, now));
    kept.push(was);
    places.push(now.place);
  }
  // What only moves up as others are added or removed stays where it was.
  if (kept.some(({ place }, n) => place < (kept[n - 1]?.place ?? 0)))
    clauses.push(...kept.flatMap((was, n) => moved(was, places[n] as number)));
  return clauses;
}

function placed(rules: readonly ShownRule[]): Map<string, Placed> {
  return new Map(
    rules.map((rule, n) => [rule.id ?? JSON.stringify([n, rule.when, rule.url]), { rule, place: n + 1 }]),
  );
}

function moved(was: Placed, place: number): Clause[] {
  return was.place === place ? [] : [["moved ", ...named(was), ` to place ${place}`]];
}

function named({ rule: { name }, place }: Placed): Clause {
  return name === undefined ? [`rule ${place}`] : [`rule ${place} `, { kind: "text", value: name }];
}

function wholeRule(placed: Placed): Clause {
  return [...named(placed), " (", ...conditionsInWords(placed.rule.when), ") to ", destination(placed.rule)];
}

function destination({ url }: ShownRule): SentencePart {
  return { kind: "url", value: url };
}

function changesOfRule(was: ShownRule, now: Placed): Clause[] {
  const { rule, place } = now;
  const clauses: Clause[] = [];
  if (was.url !== rule.url)
    clauses.push([
      ...["changed the destination of ", ...named(now), " from ", destination(was)],
      ...[" to ", destination(rule)],
    ]);
  if (JSON.stringify(sortedWhen(was)) !== JSON.stringify(sortedWhen(rule)))
    clauses.push([
      ...["changed the conditions of ", ...named(now), " from ", ...conditionsInWords(was.when)],
      ...[" to ", ...conditionsInWords(rule.when)],
    ]);
  if (was.name !== rule.name) clauses.push(renamed(was.name, rule.name, place));
  return clauses;
}

function sortedWhen({ when }: ShownRule): unknown[] {
  return CONDITION_NAMES.map((name) => when[name] ?? null);
}

function renamed(was: string | undefined, name: string | undefined, place: number): Clause {
  if (name === undefined) return [`took the name `, { kind: "text", value: was }, ` from rule ${place}`];
  return [`named rule ${place} `, { kind: "text", value: name }];
}
