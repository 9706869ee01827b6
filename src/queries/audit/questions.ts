// The questions that auditors ask of the log, in one form for the console, its JSON API and the command line: parsed from text.
import { z } from "zod";
import { CATEGORY, SEALS_STREAM } from "../../events/streams.ts";
import { eventIndex } from "../../projections/definitions/event-index.ts";
import { MOMENT_EXAMPLE, parseMoment } from "../../runtime/moment.ts";

export const CATEGORIES = [...Object.values(CATEGORY), SEALS_STREAM] as const;

/** Of streams in the index of events. */
export const INDEXED_CATEGORIES = CATEGORIES.filter(
  (category) => category !== "clicks" && category !== SEALS_STREAM,
);

/** An empty field of a form is no question. */
const given = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (typeof value === "string" && value.trim() === "" ? undefined : value), schema);
const text = given(z.string().trim().max(500).optional());
const whole = (least: number) => given(z.coerce.number().int().min(least).max(1e15).optional());
const limit = given(z.coerce.number().int().min(1).max(200).default(50));

const moment = given(
  z
    .string()
    .transform((value, context) => {
      const at = parseMoment(value);
      if (at) return at.toISOString();
      context.addIssue({ code: "custom", message: `must be ${MOMENT_EXAMPLE}` });
      return z.NEVER;
    })
    .optional(),
);

/** Also as pages show it, without the zeros that it is padded with. */
const position = given(
  z
    .string()
    .trim()
    .max(500)
    .transform((value) => value.replace(/\d+/g, (digits) => digits.padStart(20, "0")))
    .optional(),
);

/** `<type>` or `<type>:<id>`, such as `key:0190...`. */
const actor = given(
  z
    .string()
    .trim()
    .regex(
      /^(operator|(key|account|system):[\w.-]{1,100})$/,
      "must be operator, or key:, account: or system: and an id",
    )
    .optional(),
);

export const StreamsQuestion = z.object({
  category: given(z.enum(CATEGORIES).default("account")),
  account: text,
  limit,
  cursor: text,
});

export const StreamQuestion = z.object({ name: z.string().min(1).max(500), before: whole(0), limit });

export const EventQuestion = z.object({
  stream: z.string().min(1).max(500),
  revision: z.coerce.number().int().min(0).max(1e15),
});

export const StateQuestion = z.object({
  stream: z.string().min(1).max(500),
  revision: whole(0),
  against: whole(-1),
});

export const EventsQuestion = z.object({
  category: given(z.enum(INDEXED_CATEGORIES).optional()),
  account: text,
  actor,
  correlation_id: text,
  type: given(z.enum(eventIndex.handles).optional()),
  from: moment,
  to: moment,
  up_to: position,
  limit,
  cursor: text,
});

export const LogQuestion = z.object({
  from: position,
  category: given(z.enum(CATEGORIES).optional()),
  limit,
});

export const ClicksQuestion = z.object({
  link: text,
  account: text,
  from: moment,
  to: moment,
  after: text,
  limit,
});

export const ExplainQuestion = z.object({ link: text });

export const SealsQuestion = z.object({ before: whole(0), limit });

/** Of clicks to withdraw; what is empty is not asked for. */
export const WithdrawalQuestion = z.object({
  link: text,
  from: moment,
  to: moment,
  visitor: text,
  ip_prefix: text,
  user_agent: text,
});
