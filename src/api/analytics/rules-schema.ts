// What analytics say of a link's rules and of values that aren't listed, of its whole life and of a range.
import { z } from "zod";

const RuleSchema = z
  .object({
    id: z.string().nullable().meta({ description: "Null: none of the rules that the link had at that time" }),
    name: z
      .string()
      .optional()
      .meta({ description: "That the rule has now", examples: ["Variant B"] }),
    hits: z.int(),
    destinations: z.record(z.string(), z.int()).meta({
      description: "Where it led; those over 150 characters are cut and have a code",
      examples: [{ "https://example.com/b": 30 }],
    }),
  })
  .meta({ id: "RuleHits" });
export type RuleAnswer = z.infer<typeof RuleSchema>;

/** In both answers of analytics. */
export const RulesSchema = z.array(RuleSchema).optional().meta({
  description: "Hits since the link has had rules, by the rule that led them; only where it has had one",
});

/** In both answers of analytics. */
export const OtherSchema = z
  .record(z.string(), z.int())
  .optional()
  .meta({
    description:
      "Hits of the values that a breakdown doesn't list, by its name, such as `cities`, `utm_source` or `rules`; absent where each is listed",
    examples: [{ cities: 12 }],
  });
