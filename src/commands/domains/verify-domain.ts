// Verifies a custom domain by its TXT record, claims the hostname, then issues the domain's id (interface, part 3).
import type { Position } from "../../event-store/port.ts";
import { loadAccount, onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { derivedId } from "../links/derived-identity.ts";
import { txtRecord } from "./add-domain.ts";
import { claimHostname, holderOf } from "./claim-hostname.ts";
import { domainIdOf, ownDomain, verify } from "./domain.ts";
import { DomainNotProven } from "./domain-errors.ts";
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
 * Claim first, then the account: a crash between the two is completed by verifying again, because the id follows
 * from the domain's token. `skipDns`: the operator vouches for the ownership.
 * @throws AccountNotFound, DomainNotFound, DomainNotProven, DomainTaken
 */
export async function verifyDomain(
  deps: VerifyDomainDeps,
  context: CommandContext,
  accountId: string,
  given: string,
  options: { skipDns?: boolean | undefined } = {},
): Promise<VerifiedDomain> {
  const hostname = acceptHostname(given, deps.baseHost);
  const domain = ownDomain(await loadAccount(deps.eventStore, accountId), hostname);
  const domainId = derivedId("domain", accountId, hostname, domain.token);
  const at = deps.clock().toISOString();
  const isLost = domain.state !== "added" && domain.recordLostAt !== null;
  const values =
    options.skipDns || !(domain.state === "added" || isLost) ? [] : await prove(deps, hostname, domain.token);
  if (domain.state === "added") {
    if (!options.skipDns) await takeOver(deps, context, hostname, accountId, values);
    await claimHostname(deps, context, { hostname, accountId, domainId, at });
  }
  const how = options.skipDns ? "operator" : "dns";
  const { state, position } = await onAccount(deps, context, accountId, (account) =>
    ownDomain(account, hostname).token === domain.token
      ? verify(account, { hostname, domainId, how, at })
      : [],
  );
  const verified = ownDomain(state, hostname);
  const id = domainIdOf(verified);
  return { domainId: id, hostname, state: verified.state === "active" ? "active" : "inactive", position };
}

/** Answers every value of the record, in which an earlier owner's may still be. */
async function prove(deps: VerifyDomainDeps, hostname: string, token: string): Promise<string[]> {
  const proof = await lookForProof(deps.resolveTxt, hostname, token);
  if (proof.is === "proven") return proof.values;
  const { name, value } = txtRecord(hostname, token);
  throw new DomainNotProven(`${proof.reason}. It must be a TXT record ${name} with the value ${value}`);
}

/**
 * Whoever proves a hostname in DNS owns it: an account that holds it from before, and whose own record is gone, loses
 * it. With both records there, the first stays.
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
  if (held && !values.includes(held.token)) await removeDomain(deps, context, holder, hostname, "taken_over");
}
