// Verifies a custom domain by its TXT record, claims the hostname, then issues the domain's id (interface, part 3).
import type { Position } from "../../event-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import { opened } from "../account/account.ts";
import { loadAccount, onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import { requireDeveloper } from "../errors.ts";
import type { CommandDeps } from "../handle-command.ts";
import { derivedId } from "../links/derived-identity.ts";
import { txtRecord } from "./add-domain.ts";
import { claimHostname, holderOf } from "./claim-hostname.ts";
import { domainIdOf, domainOf, verify } from "./domain.ts";
import { acceptHostname } from "./hostname.ts";
import { removeDomain } from "./remove-domain.ts";
import { lookForProof, type ResolveTxt } from "./txt-proof.ts";

export type VerifyDomainDeps = CommandDeps & {
  baseHost: string;
  resolveTxt: ResolveTxt;
};

export type VerifiedDomain = {
  domainId: string;
  hostname: string;
  state: "active" | "inactive";
  position: Position | undefined;
};

/**
 * Claims the hostname before the account's event: after a crash in between, verifying again completes it with the same
 * id, which is derived from the domain's token. The claim has that id also where the domain gets back an earlier one, so
 * that the release of an earlier claim can't end it. `skipDns`: the operator vouches for the ownership.
 * @throws invalid_hostname, account_not_found, domain_not_found, domain_not_proven, domain_taken; tier_required for one that was
 * not verified before a downgrade; domain_not_verified when the domain was removed and added again meanwhile
 */
export async function verifyDomain(
  deps: VerifyDomainDeps,
  context: CommandContext,
  accountId: string,
  given: string,
  options: { skipDns?: boolean | undefined } = {},
): Promise<VerifiedDomain> {
  const hostname = acceptHostname(given, deps.baseHost);
  const account = opened(await loadAccount(deps.eventStore, accountId));
  const domain = domainOf(account, hostname);
  // Also the operator's word: it stands for the ownership, not for the plan.
  if (domain.state === "added") requireDeveloper(account.tier, "Custom domains");
  const domainId = derivedId("domain", accountId, hostname, domain.token);
  const at = deps.clock().toISOString();
  const isProven = domain.state === "active" && domain.recordLostAt === null;
  const values = options.skipDns || isProven ? [] : await prove(deps, hostname, domain.token);
  if (domain.state === "added") {
    if (!options.skipDns) await takeOver(deps, context, hostname, accountId, values);
    await claimHostname(deps, context, { hostname, accountId, domainId, at });
  }
  const how = options.skipDns ? "operator" : "dns";
  const { state, position } = await onAccount(deps, context, accountId, (account) =>
    domainOf(account, hostname).token === domain.token
      ? verify(account, { hostname, domainId, how, at })
      : [],
  );
  const verified = domainOf(state, hostname);
  const id = domainIdOf(verified);
  return { domainId: id, hostname, state: verified.state === "active" ? "active" : "inactive", position };
}

/**
 * All values under the TXT name, among which may be the token of the account that holds the hostname.
 * @throws domain_not_proven
 */
async function prove(deps: VerifyDomainDeps, hostname: string, token: string): Promise<string[]> {
  const proof = await lookForProof(deps.resolveTxt, hostname, token);
  if (proof.is === "proven") return proof.values;
  const { name, value } = txtRecord(hostname, token);
  throw new Refused(
    "domain_not_proven",
    `${proof.reason}. It must be a TXT record ${name} with the value ${value}`,
  );
}

/**
 * DNS decides the ownership: the account that holds the hostname loses it when its own TXT record is gone. While both
 * records exist, the holder keeps it. The holder's events don't name the other account as their actor, as feed and
 * export show them.
 */
async function takeOver(
  deps: VerifyDomainDeps,
  context: CommandContext,
  hostname: string,
  accountId: string,
  values: readonly string[],
): Promise<void> {
  const holder = await holderOf(deps, hostname);
  if (holder === undefined || holder === accountId) return;
  const account = await loadAccount(deps.eventStore, holder);
  const held = account.status === "open" ? account.domains.get(hostname) : undefined;
  if (!held || values.includes(held.token)) return;
  const bySystem: CommandContext = { ...context, actor: { type: "system", id: "domain-takeover" } };
  await removeDomain(deps, bySystem, holder, hostname, "taken_over");
}
