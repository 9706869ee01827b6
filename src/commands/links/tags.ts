// Tags as they are typed, and links that get one tag instead of another, for a tag that is renamed.
import { cleanText } from "../../events/classification/clean-text.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { inSlices } from "../../runtime/threads/time-slices.ts";
import type { Position } from "../../stores/event-store/port.ts";
import { opened } from "../account/account.ts";
import type { CommandContext } from "../caller.ts";
import { isClientError, Refused } from "../refusals.ts";
import { applyLinkChange } from "./change-link.ts";
import type { CreateLinkDeps } from "./create-link.ts";
import type { Retag } from "./link.ts";
import type { LinkAddress } from "./link-stream.ts";

/** Links that one form or request changes the tags of: some seconds of work. */
export const RETAGGED_AT_A_TIME = 1_000;

/** As links carry it, and lists filter by it. @throws invalid_request with the field */
export function acceptTag(text: string, field: "tag" | "name" = "tag"): string {
  const tag = cleanText(text, OPTION_LIMITS.tag + 1);
  if (tag !== "" && tag.length <= OPTION_LIMITS.tag) return tag;
  throw new Refused("invalid_request", `A tag must have 1 to ${OPTION_LIMITS.tag} characters`, { field });
}

/** `refused`: links that could not be changed, and why. `position`: of the last change. */
export type RetaggedLinks = {
  changed: number;
  refused: { address: LinkAddress; error: string; code: string }[];
  position: Position | undefined;
};

/**
 * Each link by a command of its own, so that one that is refused stops no other; repeated, it does what is missing.
 * @throws account_not_found; StoreUnavailable, when some may be done
 */
export async function retagLinks(
  deps: CreateLinkDeps,
  context: CommandContext,
  accountId: string,
  addresses: readonly LinkAddress[],
  wanted: Omit<Retag, "type">,
): Promise<RetaggedLinks> {
  opened(await deps.currentAccount(accountId));
  const retagged: RetaggedLinks = { changed: 0, refused: [], position: undefined };
  const retag = async (address: LinkAddress) => {
    try {
      const change = { type: "retag", ...wanted } as const;
      const { position } = await applyLinkChange(deps, context, accountId, address, change);
      retagged.changed += 1;
      if (position !== undefined && position > (retagged.position ?? "")) retagged.position = position;
    } catch (error) {
      if (!isClientError(error)) throw error;
      retagged.refused.push({ address, error: error.message, code: error.code });
    }
  };
  await inSlices(addresses, retag);
  return retagged;
}
