// Adds a custom domain to an account and returns the TXT record that proves its ownership.
import type { Position } from "../../event-store/port.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { add, domainOf } from "./domain.ts";
import { acceptHostname } from "./hostname.ts";

/** `randomToken`: unguessable; the value of the TXT record. */
export type AddDomainDeps = CommandDeps & { baseHost: string; randomToken: () => string };

export type TxtRecord = { type: "TXT"; name: string; value: string };

export type AddedDomain = { hostname: string; record: TxtRecord; position: Position | undefined };

/** @throws invalid_hostname, account_not_found, tier_required, history_full */
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
  return { hostname, record: txtRecord(hostname, domainOf(state, hostname).token), position };
}

/**
 * The record that proves ownership, under an underscored name so that it can't clash with other TXT records (RFC 8552).
 */
export function txtRecord(hostname: string, token: string): TxtRecord {
  return { type: "TXT", name: `_linkledger.${hostname}`, value: token };
}
