// Extracts a visitor's preferred language from Accept-Language.
import { canonicalLanguage } from "../../../events/classification/languages.ts";

const TAG = /^[a-z]{1,8}(-[a-z0-9]{1,8})*$/;

/** The tag with the highest weight, such as `en-gb`; "" when there is none (RFC 9110, 12.5.4). */
export function primaryLanguage(header: string): string {
  let best = "";
  let bestWeight = 0;
  for (const part of header.slice(0, 256).split(",")) {
    const [range = "", ...parameters] = part.split(";");
    const tag = range.trim().toLowerCase();
    const weight = weightOf(parameters);
    if (weight > bestWeight && tag.length <= 35 && TAG.test(tag)) {
      best = tag;
      bestWeight = weight;
    }
  }
  return canonicalLanguage(best);
}

function weightOf(parameters: readonly string[]): number {
  const q = parameters.map((text) => text.trim()).find((text) => /^q=/i.test(text));
  if (q === undefined) return 1;
  const weight = Number(q.slice(2));
  return weight >= 0 && weight <= 1 ? weight : 0;
}
