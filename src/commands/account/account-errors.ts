// Why an account, its keys, its password or a sign-in was refused (errors.ts).
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

/** Says nothing about whether there is such an account. */
export class WrongCredentials extends CommandRefused {
  override readonly code = "wrong_credentials";
  constructor() {
    super("This e-mail address and password don't go together");
  }
}

/** Used, too old, void since the password changed, or never issued: all read alike. */
export class LinkExpired extends CommandRefused {
  override readonly code = "link_expired";
  constructor() {
    super("This link was used already or is too old; please ask for a new one");
  }
}

/** Of someone who is signed in and must show once more who they are. */
export class WrongPassword extends CommandRefused {
  override readonly code = "wrong_password";
  constructor() {
    super("This is not your password");
  }
}
