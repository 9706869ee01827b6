// Tags as they are typed, and links that get one tag instead of another, for a tag that is renamed.
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { addressOf } from "../../events/streams.ts";
import { boundedText } from "../accept-text.ts";
import { opened } from "../account/account.ts";
import type { CommandContext } from "../caller.ts";
import { Refused } from "../refusals.ts";
import { type EachOutcome, onEachLink } from "./bulk/each-link.ts";
import { applyLinkChange } from "./change-link.ts";
import type { CreateLinkDeps } from "./create-link.ts";
import type { Retag } from "./link.ts";
import type { ChangedLink } from "./link-stream.ts";

/** Links that one form or request changes the tags of: some seconds of work. */
export const RETAGGED_AT_A_TIME = 1_000;

/** As links carry it, and lists filter by it. @throws invalid_request with the field */
export function acceptTag(text: string, field: "tag" | "name" = "tag"): string {
  const tag = boundedText(text, OPTION_LIMITS.tag);
  if (tag !== "") return tag;
  throw new Refused("invalid_request", `A tag must have 1 to ${OPTION_LIMITS.tag} characters`, { field });
}

/** `keys`: of links (linkKey). Repeated, it does what is missing. @throws account_not_found; StoreUnavailable, when some may be done */
export async function retagLinks(
  deps: CreateLinkDeps,
  context: CommandContext,
  accountId: string,
  keys: readonly string[],
  wanted: Omit<Retag, "type">,
): Promise<EachOutcome<string, ChangedLink>> {
  opened(await deps.currentAccount(accountId));
  return await onEachLink(keys, (key) =>
    applyLinkChange(deps, context, accountId, addressOf(key), { type: "retag", ...wanted }),
  );
}
