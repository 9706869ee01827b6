// Why a command was refused, in words for the caller; codes are stable and api/ maps them to statuses.
import { DomainError } from "../runtime/errors.ts";

/** A refusal the caller can do something about; its message may be shown to them. */
export abstract class CommandRefused extends DomainError {}

/** A stream is as long as it may be (STREAM_LIMITS); `way`: what the caller can do instead. */
export class HistoryFull extends CommandRefused {
  override readonly code = "history_full";
  constructor(what: string, way: string) {
    super(`${what}: ${way}`);
  }
}

export class TierRequired extends CommandRefused {
  override readonly code = "tier_required";
  constructor(feature: string) {
    super(`${feature} require the Developer plan`);
  }
}
