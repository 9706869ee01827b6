// Which id each rule of a link has: it keeps it while the list of rules is edited, so that its clicks stay its own. Pure.
import { hash } from "node:crypto";
import { isSameRule, type LinkRule } from "../../../events/link-options.ts";
import { Refused } from "../../refusals.ts";

/** Hexadecimal digits: 48 bits. */
const ID_CHARACTERS = 12;

/**
 * The rules with an id each. `before`: those that the link has. A rule without an id has that of one with the same
 * conditions and destination that no other one is, else a new one, made of what no other rule has: `link` (its key),
 * the revision that brings it, and its place.
 */
export function withRuleIds(
  rules: readonly LinkRule[],
  before: readonly LinkRule[],
  { link, revision }: { link: string; revision: number },
): LinkRule[] {
  const named = new Set(rules.map(({ id }) => id));
  const left = before.filter(({ id }) => id !== undefined && !named.has(id));
  return rules.map(({ id, ...rule }, index) => {
    if (id !== undefined) return { id, ...rule };
    const same = left.findIndex((other) => isSameRule(rule, other));
    const [kept] = same === -1 ? [] : left.splice(same, 1);
    return { id: kept?.id ?? newRuleId(link, revision, index), ...rule };
  });
}

function newRuleId(...parts: readonly (string | number)[]): string {
  return hash("sha256", JSON.stringify(["rule", ...parts])).slice(0, ID_CHARACTERS);
}

/** @throws invalid_request with the field's name, for an id that none of the link's rules has */
export function refuseUnknownRules(rules: readonly LinkRule[], before: readonly LinkRule[]): void {
  const idsBefore = new Set(before.map(({ id }) => id));
  const index = rules.findIndex(({ id }) => id !== undefined && !idsBefore.has(id));
  if (index === -1) return;
  const field = `rules.${index}.id`;
  const message = `${field} must be the id of a rule that the link has: leave it out for a new rule`;
  throw new Refused("invalid_request", message, { field });
}
