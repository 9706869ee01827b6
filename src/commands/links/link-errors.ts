// Refusals of commands on links.
import { DomainError } from "../../runtime/errors.ts";
import { CommandRefused } from "../errors.ts";

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

/** An item of a bulk request that does not have the shape of a link request. */
export class InvalidItem extends CommandRefused {
  override readonly code = "invalid_item";
}

/** Every slug that was tried is taken. */
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

/** Its owner can disable and delete it, and nothing else. */
export class LinkBlocked extends CommandRefused {
  override readonly code = "link_blocked";
  constructor(reason: string) {
    super(`The operator of this service has blocked this link: ${reason}`);
  }
}

/** A deleted link can only be restored. */
export class LinkDeleted extends CommandRefused {
  override readonly code = "link_deleted";
  constructor() {
    super("This link is deleted; restore it first");
  }
}
