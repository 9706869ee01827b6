// A form that was refused: what was typed, and why it was not taken, for whatever shows the form again.
import type { Notice } from "./request-visit.ts";

/**
 * `action`: the path that it was sent to, without the account. `typed`: its fields as they were sent; none of a form that was
 * too large to be read.
 */
export type RefusedForm = {
  action: string;
  error: unknown;
  /** Of the form, that the refusal belongs to. */
  field: string | undefined;
  status: number;
  message: string;
  typed: Readonly<Record<string, unknown>>;
};

/** Why the form was refused, for the field that it belongs to. */
export function errorOf(refused: RefusedForm | undefined, field: string): string | undefined {
  return refused?.field === field ? refused.message : undefined;
}

/** Why the form was refused, where none of these fields says it. */
export function noticeOf({ field, message: text }: RefusedForm, ...fields: string[]): Notice | undefined {
  return field !== undefined && fields.includes(field) ? undefined : { kind: "failed", text };
}

/** Text of a field as it was typed. */
export function typedText(typed: RefusedForm["typed"], name: string): string {
  const value = typed[name];
  return typeof value === "string" ? value : "";
}
