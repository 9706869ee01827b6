// Verifies a custom domain by its TXT record, claims the hostname, then issues the domain's id (interface, part 3).
import type { Position } from "../event-store/port.ts";
import { loadAccount, onAccount } from "./account-stream.ts";
import { txtRecord } from "./add-domain.ts";
import type { CommandContext } from "./caller.ts";
import { claimHostname } from "./claim-hostname.ts";
import { derivedId } from "./derived-identity.ts";
import { DomainNotProven } from "./errors.ts";
import type { CommandDeps } from "./handle-command.ts";
import { acceptHostname } from "./hostname.ts";
import { domainIdOf, ownDomain, verify } from "./own-domain.ts";

/** `resolveTxt`: TXT records of a name, each as its chunks; rejects when there are none or DNS is away. */
export type VerifyDomainDeps = CommandDeps & {
  baseHost: string;
  resolveTxt: (name: string) => Promise<string[][]>;
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
  if (domain.state === "added") {
    if (!options.skipDns) await prove(deps, hostname, domain.token);
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

async function prove(deps: VerifyDomainDeps, hostname: string, token: string): Promise<void> {
  const record = txtRecord(hostname, token);
  const wanted = `a TXT record ${record.name} with the value ${record.value}`;
  let records: string[][];
  try {
    records = await deps.resolveTxt(record.name);
  } catch (cause) {
    const code = String((cause as { code?: unknown }).code ?? "unknown error");
    throw new DomainNotProven(`Could not find ${wanted} (DNS says ${code})`, { cause });
  }
  if (!records.some((chunks) => chunks.join("").trim() === token))
    throw new DomainNotProven(`Could not find ${wanted}; ${record.name} shows something else`);
}
