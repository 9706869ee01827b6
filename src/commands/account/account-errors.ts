// Refusals of commands on an account, its keys, its password and its sign-in.
import { CommandRefused } from "../errors.ts";

export class AccountNotFound extends CommandRefused {
  override readonly code = "account_not_found";
  constructor() {
    super("Account not found");
  }
}

export class AccountExists extends CommandRefused {
  override readonly code = "account_exists";
  constructor() {
    super("This account is open already");
  }
}

export class EmailTaken extends CommandRefused {
  override readonly code = "email_taken";
  constructor() {
    super("An account with this e-mail address exists already");
  }
}

export class InvalidEmail extends CommandRefused {
  override readonly code = "invalid_email";
  constructor() {
    super("Please provide a valid e-mail address");
  }
}

export class KeyNotFound extends CommandRefused {
  override readonly code = "key_not_found";
  constructor() {
    super("API key not found");
  }
}

export class KeyLimitReached extends CommandRefused {
  override readonly code = "key_limit_reached";
  constructor(limit: number, tier: string) {
    super(`The limit of ${limit} active API keys of the ${tier} tier is reached; deactivate one first`);
  }
}

export class PasswordRefused extends CommandRefused {
  override readonly code = "password_refused";
}

/** One message for an unknown address and a wrong password, so that addresses can't be enumerated. */
export class WrongCredentials extends CommandRefused {
  override readonly code = "wrong_credentials";
  constructor() {
    super("This e-mail address and password don't go together");
  }
}

/** One message for a token that is used, expired, unknown, or void because the password or the address changed. */
export class LinkExpired extends CommandRefused {
  override readonly code = "link_expired";
  constructor() {
    super("This link was used already or is too old; please ask for a new one");
  }
}

/** Re-authentication within a session failed. */
export class WrongPassword extends CommandRefused {
  override readonly code = "wrong_password";
  constructor() {
    super("This is not your password");
  }
}
