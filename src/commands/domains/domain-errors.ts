// Refusals of commands on custom domains.
import { CommandRefused } from "../errors.ts";

export class InvalidHostname extends CommandRefused {
  override readonly code = "invalid_hostname";
  constructor(reason: string) {
    super(`Invalid domain: ${reason}`);
  }
}

export class DomainNotFound extends CommandRefused {
  override readonly code = "domain_not_found";
  constructor() {
    super("Domain not found");
  }
}

export class DomainNotVerified extends CommandRefused {
  override readonly code = "domain_not_verified";
  constructor() {
    super("This domain is not verified yet");
  }
}

export class DomainTaken extends CommandRefused {
  override readonly code = "domain_taken";
  constructor(hostname: string) {
    super(`${hostname} is verified by another account`);
  }
}

/** The TXT record is missing or DNS is unreachable; the caller may retry in both cases. */
export class DomainNotProven extends CommandRefused {
  override readonly code = "domain_not_proven";
}
