// Adds a custom domain to an account and tells which TXT record proves that it is theirs.
import type { Position } from "../../event-store/port.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { add, ownDomain } from "./domain.ts";
import { acceptHostname } from "./hostname.ts";

/** `randomToken`: not guessable; what the TXT record must show. */
export type AddDomainDeps = CommandDeps & { baseHost: string; randomToken: () => string };

export type TxtRecord = { type: "TXT"; name: string; value: string };

export type AddedDomain = { hostname: string; record: TxtRecord; position: Position | undefined };

/** @throws InvalidHostname, AccountNotFound, TierRequired */
export async function addDomain(
  deps: AddDomainDeps,
  context: CommandContext,
  accountId: string,
  given: string,
): Promise<AddedDomain> {
  const hostname = acceptHostname(given, deps.baseHost);
  const token = deps.randomToken();
  const at = deps.clock().toISOString();
  const { state, position } = await onAccount(deps, context, accountId, (account) =>
    add(account, { hostname, token, at }),
  );
  return { hostname, record: txtRecord(hostname, ownDomain(state, hostname).token), position };
}

/** The record that proves ownership, under a name of its own so that it is in nobody's way (RFC 8552). */
export function txtRecord(hostname: string, token: string): TxtRecord {
  return { type: "TXT", name: `_linkledger.${hostname}`, value: token };
}
