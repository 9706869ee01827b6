// Appends events of a link, with what they name: before them URLs are noted that are to be checked later, hashes of passwords are
// kept, and the external id is claimed, which no other link may have. Passwords and claim end where nothing was appended.

import type { LinkEvent } from "../../events/catalogue.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import {
  type Command,
  type CommandDeps,
  type CommandResult,
  handleCommand,
  isNotAppended,
} from "../handle-command.ts";
import type { AcceptedLink } from "./accept-fields.ts";
import { type Claimant, claimExternalId, endClaim } from "./external-ids.ts";
import { forgetPassword, type KeepPasswordDeps, keepLinkPassword } from "./link-password.ts";
import type { RecheckLater } from "./url-safety.ts";

export type AppendLinkDeps = CommandDeps &
  KeepPasswordDeps & { secrets: Secrets; recheckLater: RecheckLater };

/** `externalId`: that the link gets by the command. `isRepeated`: the same passwords may be those of an event in the log. */
type NamedByEvents = Pick<AcceptedLink, "unchecked" | "passwords"> & {
  externalId: string | undefined;
  isRepeated?: boolean;
};

/** @throws link_claimed, external_id_taken, too_busy; what the command decides */
export async function appendToLink<S>(
  deps: AppendLinkDeps,
  context: CommandContext,
  command: Command<S, LinkEvent>,
  by: Claimant,
  { unchecked, passwords, externalId, isRepeated = false }: NamedByEvents,
): Promise<CommandResult<S, LinkEvent>> {
  const claim = externalId === undefined ? undefined : await claimExternalId(deps, by, externalId);
  let isAppending = false;
  try {
    const { host, slug } = by;
    for (const longUrl of unchecked) await deps.recheckLater({ host, slug, longUrl });
    for (const password of passwords) await keepLinkPassword(deps, password);
    isAppending = true;
    const appended = await handleCommand(deps, context, command);
    if (claim) await endClaim(deps, claim);
    return appended;
  } catch (error) {
    // After another error the events may be in the log all the same.
    if (isAppending && !isNotAppended(error)) throw error;
    if (claim) await endClaim(deps, claim);
    if (!isRepeated) for (const { passwordId } of passwords) await forgetPassword(deps, passwordId);
    throw error;
  }
}
