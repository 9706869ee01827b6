// What happened to a link as sentences, such as "You changed the title from “Sale” to “Spring sale”": the words of pages, commands
// and explanations.
import { type FieldName, fieldRow } from "../../commands/links/fields/link-fields.ts";
import type { ShownRule } from "../../commands/links/fields/rule-fields.ts";
import { catalogue } from "../../events/catalogue.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import type { ChangedFields } from "./changed-fields.ts";
import type { LinkStep } from "./link-history.ts";
import { type Clause, ruleClauses, type SentencePart, type ValueKind } from "./rule-sentences.ts";

/** `people`: as the reader calls them, by their ids. `key`: of an actor that is one, if there is such a document. */
export function actorWords(
  { actor, isImported }: Pick<LinkStep, "actor" | "isImported">,
  people: ReadonlyMap<string, string>,
  key: KeyDocument | undefined,
): string {
  if (isImported) return "an import";
  if (actor.type === "person") return people.get(actor.id) ?? "somebody";
  if (actor.type === "operator") return "the operator of this service";
  if (actor.type === "system") return "the service";
  if (!key) return "an API key";
  return key.label === "" ? `the API key that ends in ${key.hint}` : `the API key “${key.label}”`;
}

/** Such words where a sentence begins; the first letter of a name or an address stays. */
export function atStart(words: string): string {
  return words.replace(/^(?=(?:an?|the) |(?:you|somebody)$)./, (first) => first.toUpperCase());
}

export function clausesOf({ type, from, to, changes, blocked, withdrawn }: LinkStep): readonly Clause[] {
  const { url: _url, ...others } = changes;
  const ofFields = Object.entries(others).flatMap(([name, change]) => fieldClauses(name, change));
  const url = (value: unknown) => ({ kind: "url", value }) as const;
  switch (type) {
    case "LinkCreated":
      return [["created this link to ", url(to)], ...ofFields];
    case "LinkRetargeted":
      return [["changed the destination from ", url(from), " to ", url(to)]];
    case "LinkBlocked":
      return [[`blocked this link${blocked?.legal ? " for a legal reason" : ""}: ${blocked?.reason}`]];
    case "ClicksWithdrawn":
      return [[`took hits out of the numbers, ${withdrawn?.clicks} in all: ${withdrawn?.reason}`]];
    case "Unreadable":
      return [["made a change that can't be read"]];
    default: {
      const { sentence } = catalogue[type];
      return sentence === undefined ? ofFields : [[sentence]];
    }
  }
}

function fieldClauses(name: string, { from, to }: ChangedFields[string]): Clause[] {
  const field = name === "has_password" ? "password" : (name as FieldName);
  const { label, noun = label.charAt(0).toLowerCase() + label.slice(1), kind } = fieldRow(field);
  if (kind === "rules") return ruleClauses((from ?? []) as ShownRule[], (to ?? []) as ShownRule[]);
  if (kind === "password")
    return [[from === null ? "set a password" : to ? "replaced the password" : "removed the password"]];
  const was = { kind, value: from };
  const is = { kind, value: to };
  if (from === null) return [[`set the ${noun} to `, is]];
  if (to === null) return [[`removed the ${noun} `, was]];
  return [[`changed the ${noun} from `, was, " to ", is]];
}

/** One sentence, as plain text. */
export function sentenceOf(actor: string, clauses: readonly Clause[]): string {
  const texts = clauses.map((clause) => clause.map(plainPart).join(""));
  return `${atStart(actor)} ${texts.join("; ") || "changed nothing"}.`;
}

function plainPart(part: SentencePart): string {
  return typeof part === "string" ? part : PLAIN[part.kind](part.value as never);
}

const quoted = (text: string) => `“${text}”`;

const PLAIN: Readonly<Record<ValueKind, (value: never) => string>> = {
  text: quoted,
  lines: quoted,
  list: (values: string[]) => values.map(quoted).join(", "),
  time: String,
  url: String,
  count: String,
  code: String,
  forwarding: (winner: true | "visitor") =>
    winner === true ? "the destination's own wins" : "the visitor's wins",
};
