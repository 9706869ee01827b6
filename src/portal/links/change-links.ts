// Changes links of the account that is signed in: one on its page, or several that were chosen in the list.
import type { FastifyRequest } from "fastify";
import { httpErrorOf } from "../../api/http-errors.ts";
import { changeLink, type LinkAddress, type LinkChangeRequest } from "../../commands/links/change-link.ts";
import { LinkNotFound, LinkNotYours } from "../../commands/links/link-errors.ts";
import { DomainError } from "../../runtime/errors.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countChange } from "../shell/change-limit.ts";
import { signedIn } from "../shell/sessions.ts";
import { portalContext } from "../shell/visit.ts";
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

/**
 * Returns when the portal's pages show it.
 * @throws LinkNotFound also for another account's link; what changeLink throws
 */
export async function changeOwnLink(
  deps: PortalDeps,
  request: FastifyRequest,
  address: LinkAddress,
  wanted: LinkChangeRequest,
): Promise<void> {
  const { accountId, tier } = signedIn(request);
  const by = { accountId, tier, via: "web" } as const;
  try {
    const { position } = await changeLink(deps.links, portalContext(request), by, address, wanted);
    await deps.whenReadable(position);
  } catch (error) {
    throw error instanceof LinkNotYours ? new LinkNotFound() : error;
  }
}

/** `text`: how many were changed, which were not, and why. `refused`: keys of the latter. */
type Changed = { text: string; changed: number; refused: string[] };

/** `keys`: `<host>/<slug>`. Each link counts as one change of the hour; the form itself was counted as the first. */
export async function changeSeveral(
  deps: PortalDeps,
  request: FastifyRequest,
  type: Change,
  keys: readonly string[],
): Promise<Changed> {
  const chosen = [...new Set(keys)];
  if (chosen.length === 0) return { text: "Choose at least one link first.", changed: 0, refused: [] };
  /** The reason why the link was not changed. */
  const changeOne = async (key: string, n: number): Promise<string | undefined> => {
    const [host = "", slug = ""] = key.split("/");
    try {
      if (n > 0) await countChange(deps, signedIn(request));
      await changeOwnLink(deps, request, { host, slug }, { type });
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
  return { text: [...done, ...notDone].join(" "), changed, refused };
}
