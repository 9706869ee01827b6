// Changes links of the account that is signed in: one on its page, or several that were chosen in the list.
import { httpErrorOf } from "../../api/http-errors.ts";
import { opened } from "../../commands/account/account.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { lastPosition } from "../../commands/handle-command.ts";
import { onEachLink } from "../../commands/links/bulk/each-link.ts";
import { applyLinkChange, changeLink, type LinkChangeRequest } from "../../commands/links/change-link.ts";
import type { Retag } from "../../commands/links/link.ts";
import type { LinkAddress } from "../../commands/links/link-stream.ts";
import { isRefused, Refused } from "../../commands/refusals.ts";
import { addressOf } from "../../events/streams.ts";
import { BULK_MAX_LINKS, hasDeveloperFeatures } from "../../events/vocabulary.ts";
import { DomainError } from "../../runtime/errors.ts";
import type { Position } from "../../stores/event-store/port.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countChange } from "../shell/change-limit.ts";
import type { SignedIn } from "../shell/sessions.ts";
import { count, counted } from "./link-view.ts";
import { readableUrl } from "./urls.ts";

/** What is offered as a button, with the notice after it for one link and for several. */
export const CHANGES = {
  disable: { single: "The link is disabled: it answers 404 until you enable it.", several: "disabled" },
  enable: { single: "The link works again.", several: "enabled" },
  delete: {
    single: "The link is deleted. You can restore it here at any time: its slug stays yours.",
    several: "deleted. You can restore what you deleted at any time, under Deleted",
  },
  restore: { single: "The link is restored, as it was before it was deleted.", several: "restored" },
} as const satisfies Record<Exclude<LinkChangeRequest["type"], "patch">, object>;

type Change = keyof typeof CHANGES;
export const CHANGE_NAMES = Object.keys(CHANGES) as Change[];

/** Who is signed in, and the request for the metadata of events. */
type By = { session: SignedIn; context: CommandContext };

/**
 * `ifRevision`: the change is made only to that revision. @throws link_not_found also for another account's link; what
 * changeLink throws
 */
export async function changeOwnLink(
  deps: PortalDeps,
  { session: { accountId, tier }, context }: By,
  address: LinkAddress,
  wanted: LinkChangeRequest,
  ifRevision?: number,
): Promise<{ position: Position | undefined }> {
  const by = { accountId, tier, via: "web" } as const;
  const options = { ifRevision: ifRevision === undefined ? undefined : [ifRevision] };
  return await hidingOthers(changeLink(deps.links, context, by, address, wanted, options));
}

/** @throws link_not_found also for another account's link */
async function hidingOthers<T>(changed: Promise<T>): Promise<T> {
  try {
    return await changed;
  } catch (error) {
    throw isRefused(error, "link_not_yours") ? new Refused("link_not_found") : error;
  }
}

/** What several links get: a change that has a button, or a tag more or less. */
export type SeveralChange = { type: Change } | Retag;

/** Of the links that a sentence names; the others are a number. */
const MOST_NAMED = 10;

/**
 * `keys`: `<host>/<slug>`. Each link counts as one change of the hour, on the Developer plan each 100 of them, as in bulk
 * requests; the form itself was counted as the first.
 */
export async function changeSeveral(
  deps: PortalDeps,
  by: By,
  wanted: SeveralChange,
  keys: readonly string[],
) {
  const { accountId, tier } = by.session;
  if (wanted.type === "retag") opened(await deps.links.currentAccount(accountId));
  const linksAChange = hasDeveloperFeatures(tier) ? BULK_MAX_LINKS : 1;
  const changeOne = async (key: string, n: number) => {
    if (n > 0 && n % linksAChange === 0) await countChange(deps, by.session);
    return wanted.type === "retag"
      ? await hidingOthers(applyLinkChange(deps.links, by.context, accountId, addressOf(key), wanted))
      : await changeOwnLink(deps, by, addressOf(key), wanted);
  };
  const failsAlone = (error: unknown) => error instanceof DomainError;
  const { results, failures } = await onEachLink([...new Set(keys)], changeOne, { failsAlone });
  const changed = results.length;
  const reasonOf = (error: unknown) => httpErrorOf(error).message.replace(/\.$/, "") || "it did not work";
  const sentences = Object.entries(Object.groupBy(failures, ({ error }) => reasonOf(error))).map(
    ([reason, of = []]) => `Not changed: ${named(of.map(({ item }) => item))}: ${reason}.`,
  );
  if (changed > 0) sentences.unshift(`${counted(changed, "link")} ${outcomeOf(wanted)}.`);
  return {
    /** How many were changed, which were not, and why. */
    text: sentences.join(" ") || "Choose at least one link first.",
    changed,
    /** Keys of those that were not. */
    refused: failures.map(({ item }) => item),
    position: lastPosition(results.map(({ result }) => result.position)),
  };
}

function outcomeOf(wanted: SeveralChange): string {
  if (wanted.type !== "retag") return CHANGES[wanted.type].several;
  const { from, to } = wanted;
  return to === undefined ? `without the tag ${from}` : `with the tag ${to}`;
}

function named(keys: readonly string[]): string {
  const names = keys.slice(0, MOST_NAMED).map(readableUrl).join(", ");
  return keys.length > MOST_NAMED ? `${names} and ${count(keys.length - MOST_NAMED)} more` : names;
}
