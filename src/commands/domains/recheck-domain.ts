// Rechecks the TXT record of a verified domain; a domain whose record is missing for seven days becomes inactive.
import type { Position } from "../../event-store/port.ts";
import { loadAccount, onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { noteRecord, verifiedDomain } from "./domain.ts";
import { lookForProof, type ResolveTxt } from "./txt-proof.ts";

export type RecheckedDomain = {
  record: "found" | "gone" | "unknown" | "not needed";
  position: Position | undefined;
};

/** Changes nothing when DNS is unreachable (`unknown`), nor for a closed account (`not needed`). */
export async function recheckDomain(
  deps: CommandDeps & { resolveTxt: ResolveTxt },
  context: CommandContext,
  accountId: string,
  domainId: string,
): Promise<RecheckedDomain> {
  const account = await loadAccount(deps.eventStore, accountId);
  const domain = account.status === "open" ? verifiedDomain(account, domainId) : undefined;
  if (!domain || domain.proven === "operator") return { record: "not needed", position: undefined };
  const proof = await lookForProof(deps.resolveTxt, domain.hostname, domain.token);
  if (proof.is === "unreachable") return { record: "unknown", position: undefined };
  const isThere = proof.is === "proven";
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    // Removed and added again meanwhile, the domain has its id again, and another token.
    verifiedDomain(account, domainId)?.token === domain.token
      ? noteRecord(account, { domainId, isThere, at })
      : [],
  );
  return { record: isThere ? "found" : "gone", position };
}
