// Changes links of the account that is signed in: one on its page, or several that were chosen in the list.
import type { FastifyRequest } from "fastify";
import { httpErrorOf } from "../../api/http-errors.ts";
import { changeLink, type LinkChangeRequest } from "../../commands/links/change-link.ts";
import type { LinkAddress } from "../../commands/links/link-stream.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { DomainError } from "../../runtime/errors.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countChange } from "../shell/change-limit.ts";
import { signedIn } from "../shell/sessions.ts";
import { portalContext } from "../shell/visit.ts";
import { counted } from "./link-view.ts";
import { readableUrl } from "./readable-url.ts";

export const SEVERAL = ["disable", "enable", "delete", "restore"] as const;
type Change = (typeof SEVERAL)[number];

const DONE: Readonly<Record<Change, string>> = {
  disable: "disabled",
  enable: "enabled",
  delete: "deleted. You can restore what you deleted at any time, under Deleted",
  restore: "restored",
};

/**
 * Returns when the portal's pages show it.
 * @throws not_found for another account's link; what changeLink throws
 */
export async function changeOwnLink(
  deps: PortalDeps,
  request: FastifyRequest,
  { host, slug }: LinkAddress,
  wanted: LinkChangeRequest,
): Promise<void> {
  const { accountId, tier } = signedIn(request);
  await linkHistory(deps, accountId, host, slug);
  const by = { accountId, tier, via: "web" } as const;
  const { position } = await changeLink(deps.links, portalContext(request), by, { host, slug }, wanted);
  await deps.whenReadable(position);
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
  const done = changed > 0 ? [`${counted(changed, "link")} ${DONE[type]}.`] : [];
  const notDone = Object.entries(byReason).map(
    ([reason, of = []]) => `Not changed: ${of.map(readableUrl).join(", ")}: ${reason}.`,
  );
  const text = chosen.length === 0 ? "Choose at least one link first." : [...done, ...notDone].join(" ");
  return { text, changed, refused };
}
