// The error of everything that the processes share only to go faster or to take turns: the caller goes on without.
import { DomainError } from "../runtime/errors.ts";

/** The shared limits or leases can't be asked just now; whether a pending write was taken is unknown. */
export class CoordinationUnavailable extends DomainError {
  override readonly code = "coordination_unavailable";
}
