// What is done with an account's custom domains (interface, part 3): add, verify, activate, deactivate, set the home page,
// recheck, remove.
import { Refused } from "../../runtime/refused.ts";
import { opened } from "../account/account.ts";
import { accountCommand, changeAccount, loadAccount, onAccount } from "../account/accounts.ts";
import { type CommandContext, requireDeveloper } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { type AcceptUrlDeps, acceptUrl } from "../links/accept-url.ts";
import { derivedId } from "../links/derived-identity.ts";
import { claimHostname, holderOf, releaseHostname } from "./claim-hostname.ts";
import * as domains from "./domain.ts";
import { domainIdOf, domainOf, verifiedDomain } from "./domain.ts";
import { acceptHostname, lookForProof, type ResolveTxt, type TxtRecord, txtRecord } from "./hostname.ts";

/** `randomToken`: unguessable; the value of the TXT record. */
export type AddDomainDeps = CommandDeps & { baseHost: string; randomToken: () => string };

export type VerifyDomainDeps = CommandDeps & { baseHost: string; resolveTxt: ResolveTxt };

/** `record`: the one that proves the ownership. */
export type AddedDomain = Appended & { hostname: string; record: TxtRecord };

export type VerifiedDomain = Appended & { domainId: string; hostname: string; state: "active" | "inactive" };

export type RecheckedDomain = Appended & { record: "found" | "gone" | "unknown" | "not needed" };

/** @throws invalid_hostname, account_not_found, tier_required, history_full */
export async function addDomain(
  deps: AddDomainDeps,
  context: CommandContext,
  accountId: string,
  given: string,
): Promise<AddedDomain> {
  const hostname = acceptHostname(given, deps.baseHost);
  const token = deps.randomToken();
  const { state, position } = await onAccount(deps, context, accountId, (account, at) =>
    domains.add(account, { hostname, token, at }),
  );
  return { hostname, record: txtRecord(hostname, domainOf(state, hostname).token), position };
}

/**
 * Claims the hostname before the account's event: after a crash in between, verifying again completes it with the same
 * id, which is derived from the domain's token. The claim has that id also where the domain gets back an earlier one, so
 * that the release of an earlier claim can't end it. `skipDns`: the operator vouches for the ownership.
 * @throws invalid_hostname, account_not_found, domain_not_found, domain_not_proven, domain_taken; tier_required for one that
 * was not verified before a downgrade; domain_not_verified when the domain was removed and added again meanwhile
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
  const isProven = domain.state === "active" && domain.recordLostAt === null;
  const values = options.skipDns || isProven ? [] : await prove(deps, hostname, domain.token);
  if (domain.state === "added") {
    if (!options.skipDns) await takeOver(deps, context, hostname, accountId, values);
    await claimHostname(deps, context, { hostname, accountId, domainId });
  }
  const how = options.skipDns ? "operator" : "dns";
  const { state, position } = await onAccount(deps, context, accountId, (account, at) =>
    domainOf(account, hostname).token === domain.token
      ? domains.verify(account, { hostname, domainId, how, at })
      : [],
  );
  const verified = domainOf(state, hostname);
  const id = domainIdOf(verified);
  return { domainId: id, hostname, state: verified.state === "active" ? "active" : "inactive", position };
}

/** @throws account_not_found, domain_not_found, domain_not_proven, history_full */
export const activateDomain = accountCommand((account, at, domainId: string) =>
  domains.activate(account, { domainId, at }),
);

/** Keeps its links, but they answer 404 until it is active again. @throws account_not_found, domain_not_found */
export const deactivateDomain = accountCommand((account, at, domainId: string) =>
  domains.deactivate(account, { domainId, at }),
);

/**
 * Where the domain's `/` leads. `given`: an http or https URL, checked like that of a link; null or "" for the built-in
 * page.
 * @throws invalid_url, unsafe_url, account_not_found, domain_not_found, history_full
 */
export async function setDomainHome(
  deps: CommandDeps & AcceptUrlDeps,
  context: CommandContext,
  accountId: string,
  { domainId, given }: { domainId: string; given: string | null },
): Promise<Appended & { homeUrl: string | null }> {
  const ownHosts = async () => domains.verifiedHosts(await loadAccount(deps.eventStore, accountId));
  const homeUrl = given ? (await acceptUrl(deps, given, ownHosts)).longUrl : null;
  const { position } = await changeAccount(deps, context, accountId, (account, at) =>
    domains.setHome(account, { domainId, homeUrl, at }),
  );
  return { homeUrl, position };
}

/**
 * Looks for the TXT record of a verified domain, which becomes inactive once that is gone for seven days. Changes nothing
 * when DNS is unreachable (`unknown`), nor for a closed account (`not needed`).
 */
export async function recheckDomain(
  deps: CommandDeps & { resolveTxt: ResolveTxt },
  context: CommandContext,
  accountId: string,
  domainId: string,
): Promise<RecheckedDomain> {
  const domain = verifiedDomain(await loadAccount(deps.eventStore, accountId), domainId);
  if (!domain || domain.proven === "operator") return { record: "not needed", position: undefined };
  const proof = await lookForProof(deps.resolveTxt, domain.hostname, domain.token);
  if (proof.is === "unreachable") return { record: "unknown", position: undefined };
  const isThere = proof.is === "proven";
  const { position } = await changeAccount(deps, context, accountId, (account, at) =>
    // Removed and added again meanwhile, the domain has its id again, and another token.
    verifiedDomain(account, domainId)?.token === domain.token
      ? domains.noteRecord(account, { domainId, isThere, at })
      : [],
  );
  return { record: isThere ? "found" : "gone", position };
}

/**
 * Removal comes before the release of the claim: otherwise another account could claim a hostname that this one still
 * serves. Can be repeated after a crash.
 * @throws account_not_found
 */
export async function removeDomain(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  hostname: string,
  reason?: "taken_over",
): Promise<Appended> {
  const removed = await changeAccount(deps, context, accountId, (account, at) =>
    domains.remove(account, { hostname, at, reason }),
  );
  await releaseHostname(deps, context, { hostname, accountId });
  return removed;
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
