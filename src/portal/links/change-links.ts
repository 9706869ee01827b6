// Changes links of the account that is signed in: one on its page, or several that were chosen in the list.
import { httpErrorOf } from "../../api/http-errors.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { changeLink, type LinkChangeRequest } from "../../commands/links/change-link.ts";
import type { LinkAddress } from "../../commands/links/link-stream.ts";
import type { Position } from "../../event-store/port.ts";
import { DomainError } from "../../runtime/errors.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countChange } from "../shell/change-limit.ts";
import type { SignedIn } from "../shell/sessions.ts";
import { counted } from "./link-view.ts";
import { readableUrl } from "./urls.ts";

/** What is offered as a button, with the notice after it for one link and for several. */
export const CHANGES = {
  disable: { one: "The link is disabled: it answers 404 until you enable it.", several: "disabled" },
  enable: { one: "The link works again.", several: "enabled" },
  delete: {
    one: "The link is deleted. You can restore it here at any time: its slug stays yours.",
    several: "deleted. You can restore what you deleted at any time, under Deleted",
  },
  restore: { one: "The link is restored, as it was before it was deleted.", several: "restored" },
} as const satisfies Record<Exclude<LinkChangeRequest["type"], "retarget">, object>;

type Change = keyof typeof CHANGES;
export const CHANGE_NAMES = Object.keys(CHANGES) as Change[];

/** Who is signed in, and the request for the metadata of events. */
type By = { session: SignedIn; context: CommandContext };

/** @throws link_not_found also for another account's link; what changeLink throws */
export async function changeOwnLink(
  deps: PortalDeps,
  { session: { accountId, tier }, context }: By,
  address: LinkAddress,
  wanted: LinkChangeRequest,
): Promise<{ position: Position | undefined }> {
  try {
    return await changeLink(deps.links, context, { accountId, tier, via: "web" }, address, wanted);
  } catch (error) {
    throw isRefused(error, "link_not_yours") ? new Refused("link_not_found") : error;
  }
}

/** `text`: how many were changed, which were not, and why. `refused`: keys of the latter. `position`: of the last change. */
type Changed = { text: string; changed: number; refused: string[]; position: Position | undefined };

/** `keys`: `<host>/<slug>`. Each link counts as one change of the hour; the form itself was counted as the first. */
export async function changeSeveral(
  deps: PortalDeps,
  by: By,
  type: Change,
  keys: readonly string[],
): Promise<Changed> {
  const chosen = [...new Set(keys)];
  const positions: string[] = [];
  /** The reason why the link was not changed. */
  const changeOne = async (key: string, n: number): Promise<string | undefined> => {
    const [host = "", slug = ""] = key.split("/");
    try {
      if (n > 0) await countChange(deps, by.session);
      const { position } = await changeOwnLink(deps, by, { host, slug }, { type });
      if (position) positions.push(position);
      return undefined;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return httpErrorOf(error).message.replace(/\.$/, "") || "it did not work";
    }
  };
  const reasons = await Promise.all(chosen.map(changeOne));
  const refused = chosen.filter((_, n) => reasons[n] !== undefined);
  const byReason = Object.groupBy(refused, (key) => reasons[chosen.indexOf(key)] ?? "");
  const changed = chosen.length - refused.length;
  const notDone = Object.entries(byReason).map(
    ([reason, of = []]) => `Not changed: ${of.map(readableUrl).join(", ")}: ${reason}.`,
  );
  const done = changed > 0 ? [`${counted(changed, "link")} ${CHANGES[type].several}.`] : [];
  const text = chosen.length === 0 ? "Choose at least one link first." : [...done, ...notDone].join(" ");
  return { text, changed, refused, position: positions.sort().at(-1) };
}
