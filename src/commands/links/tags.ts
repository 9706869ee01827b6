// Tags as they are typed.
import { cleanText } from "../../events/classification/clean-text.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { Refused } from "../../runtime/refused.ts";

/** As links carry it, and lists filter by it. @throws invalid_request */
export function acceptTag(text: string): string {
  const tag = cleanText(text, OPTION_LIMITS.tag + 1);
  if (tag !== "" && tag.length <= OPTION_LIMITS.tag) return tag;
  throw new Refused("invalid_request", `A tag has 1 to ${OPTION_LIMITS.tag} characters`, { field: "tag" });
}
