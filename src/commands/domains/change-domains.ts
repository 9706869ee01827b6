// What is done with an account's custom domains (interface, part 3): add, verify, activate, deactivate, set the home page,
// recheck, remove; and with the claims of their hostnames, whose streams make the owner unique across accounts.
import { domainStream } from "../../events/streams.ts";
import { opened } from "../account/account.ts";
import { accountCommand, changeAccount, loadAccount, onAccount } from "../account/account-stream.ts";
import { type CommandContext, requireDeveloper } from "../caller.ts";
import { type Appended, type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { type AcceptUrlDeps, acceptUrl } from "../links/accept-url.ts";
import { derivedId } from "../links/derived-identity.ts";
import { Refused } from "../refusals.ts";
import * as domains from "./decide-domain.ts";
import { acceptHostname, lookForProof, type ResolveTxt, type TxtRecord, txtRecord } from "./hostname.ts";

type VerifyDomainDeps = CommandDeps & { baseHost: string; resolveTxt: ResolveTxt };

/** `randomToken`: unguessable; the value of the TXT `record`. @throws invalid_hostname, account_not_found, tier_required, history_full */
export async function addDomain(
  deps: CommandDeps & { baseHost: string; randomToken: () => string },
  context: CommandContext,
  accountId: string,
  text: string,
): Promise<Appended & { hostname: string; record: TxtRecord }> {
  const hostname = acceptHostname(text, deps.baseHost);
  const token = deps.randomToken();
  const { state, position } = await onAccount(deps, context, accountId, (account, at) =>
    domains.add(account, { hostname, token, at }),
  );
  return { hostname, record: txtRecord(hostname, domains.domainOf(state, hostname).token), position };
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
  text: string,
  options: { skipDns?: boolean | undefined } = {},
): Promise<Appended & { domainId: string; hostname: string; state: "active" | "inactive" }> {
  const hostname = acceptHostname(text, deps.baseHost);
  const account = opened(await loadAccount(deps.eventStore, accountId));
  const domain = domains.domainOf(account, hostname);
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
    domains.domainOf(account, hostname).token === domain.token
      ? domains.verify(account, { hostname, domainId, how, at })
      : [],
  );
  const verified = domains.domainOf(state, hostname);
  if (verified.state === "added") throw new Refused("domain_not_verified");
  return { domainId: verified.domainId, hostname, state: verified.state, position };
}

/** @throws account_not_found, domain_not_found, domain_not_proven, history_full */
export const activateDomain = accountCommand((account, { at }, domainId: string) =>
  domains.activate(account, { domainId, at }),
);

/** Keeps its links, but they answer 404 until it is active again. @throws account_not_found, domain_not_found */
export const deactivateDomain = accountCommand((account, { at }, domainId: string) =>
  domains.deactivate(account, { domainId, at }),
);

/**
 * Where the domain's `/` leads. `url`: checked like the URL of a link; null or "" for the built-in page.
 * @throws invalid_url, unsafe_url, account_not_found, domain_not_found, history_full
 */
export async function setDomainHome(
  deps: CommandDeps & AcceptUrlDeps,
  context: CommandContext,
  accountId: string,
  { domainId, url }: { domainId: string; url: string | null },
): Promise<Appended & { homeUrl: string | null }> {
  const ownHosts = domains.verifiedHosts(await loadAccount(deps.eventStore, accountId));
  const homeUrl = url ? (await acceptUrl(deps, url, ownHosts)).longUrl : null;
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
): Promise<Appended & { record: "found" | "gone" | "unknown" | "not needed" }> {
  const domain = domains.verifiedDomain(await loadAccount(deps.eventStore, accountId), domainId);
  if (!domain || domain.proven === "operator") return { record: "not needed", position: undefined };
  const proof = await lookForProof(deps.resolveTxt, domain.hostname, domain.token);
  if (proof.is === "unreachable") return { record: "unknown", position: undefined };
  const isThere = proof.is === "proven";
  const { position } = await changeAccount(deps, context, accountId, (account, at) =>
    // Removed and added again meanwhile, the domain has its id again, and another token.
    domains.verifiedDomain(account, domainId)?.token === domain.token
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
    domains.remove(account, { hostname, at, ...(reason && { reason }) }),
  );
  await releaseHostname(deps, context, { hostname, accountId });
  return removed;
}

/** All values under the TXT name: the token of the hostname's holder may be among them. @throws domain_not_proven */
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
  const holder = (await claimOf(deps, hostname))?.accountId;
  if (holder === undefined || holder === accountId) return;
  const account = await loadAccount(deps.eventStore, holder);
  const domain = account.status === "open" ? account.domains.get(hostname) : undefined;
  if (!domain || values.includes(domain.token)) return;
  const bySystem: CommandContext = { ...context, actor: { type: "system", id: "domain-takeover" } };
  await removeDomain(deps, bySystem, holder, hostname, "taken_over");
}

/** @throws domain_taken */
async function claimHostname(
  deps: CommandDeps,
  context: CommandContext,
  c: domains.HostnameClaim & { hostname: string },
): Promise<void> {
  const present = await claimOf(deps, c.hostname);
  const isStale =
    present && present.accountId !== c.accountId && !(await hasDomain(deps, present, c.hostname));
  const stale = isStale ? present : undefined;
  const at = deps.clock().toISOString();
  await handleCommand(deps, context, {
    ...folded(c.hostname),
    decide: (state) => domains.claim(state, { ...c, at, stale }),
  });
}

/** Releases the account's claim, unless the account has (or has again added) the domain. */
export async function releaseHostname(
  deps: CommandDeps,
  context: CommandContext,
  { hostname, accountId }: { hostname: string; accountId: string },
): Promise<void> {
  const present = await claimOf(deps, hostname);
  if (present?.accountId !== accountId || (await hasDomain(deps, present, hostname))) return;
  const { domainId } = present;
  const at = deps.clock().toISOString();
  await handleCommand(deps, context, {
    ...folded(hostname),
    decide: (state) => domains.release(state, { hostname, accountId, domainId, at }),
  });
}

/** The claim that an account has on the hostname. */
export async function claimOf(
  { eventStore }: Pick<CommandDeps, "eventStore">,
  hostname: string,
): Promise<domains.HostnameClaim | undefined> {
  const { state } = await loadStream(eventStore, folded(hostname));
  return state.status === "claimed" ? state : undefined;
}

async function hasDomain(
  deps: CommandDeps,
  { accountId }: domains.HostnameClaim,
  hostname: string,
): Promise<boolean> {
  const account = await loadAccount(deps.eventStore, accountId);
  return account.status === "open" && account.domains.has(hostname);
}

function folded(hostname: string) {
  return { stream: domainStream(hostname), initial: domains.unclaimed, fold: domains.evolveClaim };
}
