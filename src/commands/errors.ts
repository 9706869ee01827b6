// Why a command was refused, in words for the caller; codes are stable and api/ maps them to statuses.
import { DomainError } from "../errors.ts";

/** A refusal the caller can do something about; its message may be shown to them. */
export abstract class CommandRefused extends DomainError {}

export class TierRequired extends CommandRefused {
  override readonly code = "tier_required";
  constructor(feature: string) {
    super(`${feature} require the Developer plan`);
  }
}

export class InvalidUrl extends CommandRefused {
  override readonly code = "invalid_url";
  constructor(reason?: string) {
    super(`Invalid URL: please provide a valid HTTP/HTTPS URL${reason ? ` (${reason})` : ""}`);
  }
}

export class UnsafeUrl extends CommandRefused {
  override readonly code = "unsafe_url";
  constructor() {
    super("This URL is flagged as unsafe and can't be shortened");
  }
}

export class InvalidDomain extends CommandRefused {
  override readonly code = "invalid_domain";
  constructor() {
    super("Domain not found, not verified or not active");
  }
}

export class CustomSlugNeedsDomain extends CommandRefused {
  override readonly code = "custom_slug_needs_domain";
  constructor() {
    super("Custom slugs are only available with custom domains: domain_id is required with customSlug");
  }
}

export class InvalidSlug extends CommandRefused {
  override readonly code = "invalid_slug";
  constructor(reason: string) {
    super(`Invalid custom slug: ${reason}`);
  }
}

export class SlugTaken extends CommandRefused {
  override readonly code = "slug_taken";
  constructor(host: string, slug: string) {
    super(`The slug ${slug} already exists on ${host}`);
  }
}

/** An item of a bulk request that isn't a link request at all. */
export class InvalidItem extends CommandRefused {
  override readonly code = "invalid_item";
}

/** Every random slug that was tried is taken: the alphabet is as good as used up. */
export class NoFreeSlug extends DomainError {
  override readonly code = "no_free_slug";
  constructor() {
    super("Failed to create the short link");
  }
}

export class LinkNotFound extends CommandRefused {
  override readonly code = "link_not_found";
  constructor() {
    super("Short link not found");
  }
}

export class LinkNotYours extends CommandRefused {
  override readonly code = "link_not_yours";
  constructor() {
    super("This link belongs to another account");
  }
}

/** A deleted link can only be restored. */
export class LinkDeleted extends CommandRefused {
  override readonly code = "link_deleted";
  constructor() {
    super("This link is deleted; restore it first");
  }
}

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

/** The TXT record isn't there, or DNS can't be asked; trying again later is right in both cases. */
export class DomainNotProven extends CommandRefused {
  override readonly code = "domain_not_proven";
}

export class WebhookNotFound extends CommandRefused {
  override readonly code = "webhook_not_found";
  constructor() {
    super("Webhook not found");
  }
}

export class WebhookLimitReached extends CommandRefused {
  override readonly code = "webhook_limit_reached";
  constructor(limit: number) {
    super(`The webhook limit of ${limit} is reached`);
  }
}

export class InvalidWebhook extends CommandRefused {
  override readonly code = "invalid_webhook";
}

/** Paused by the operator, who alone may resume it. */
export class WebhookHeld extends CommandRefused {
  override readonly code = "webhook_held";
  constructor() {
    super("This webhook was paused by the operator of the service, who alone can resume it");
  }
}

/** Two rotations at once: which key was shown to whom would be left to chance. */
export class RotationUnderWay extends CommandRefused {
  override readonly code = "rotation_under_way";
  constructor() {
    super("The key of this webhook is being rotated by another request; try again in a moment");
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
