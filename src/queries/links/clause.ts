// The parts of which sentences about a link are made, so that a page shows each value in its own way.
import type { FieldKind } from "../../commands/links/fields/link-fields.ts";

/** Rules are told one by one (rule-sentences.ts), and a password is never shown. */
export type ValueKind = Exclude<FieldKind, "rules" | "password">;
export type SentencePart = string | { kind: ValueKind; value: unknown };

/** What follows the actor, without a full stop: one clause for each change. */
export type Clause = readonly SentencePart[];
