// Sets the redirect target of a custom domain's `/`.
import type { Position } from "../../event-store/port.ts";
import { loadAccount, onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { type AcceptUrlDeps, acceptUrl } from "../links/accept-url.ts";
import { setHome, verifiedHosts } from "./domain.ts";

/**
 * `given`: an http or https URL, checked like that of a link; null or "" for the built-in page.
 * @throws invalid_url, unsafe_url, account_not_found, domain_not_found, history_full
 */
export async function setDomainHome(
  deps: CommandDeps & AcceptUrlDeps,
  context: CommandContext,
  accountId: string,
  c: { domainId: string; given: string | null },
): Promise<{ homeUrl: string | null; position: Position | undefined }> {
  const ownHosts = async () => verifiedHosts(await loadAccount(deps.eventStore, accountId));
  const homeUrl = c.given ? (await acceptUrl(deps, c.given, ownHosts)).longUrl : null;
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    setHome(account, { domainId: c.domainId, homeUrl, at }),
  );
  return { homeUrl, position };
}
