// Refusals of commands on webhooks.
import { CommandRefused } from "../errors.ts";

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

/** Paused by the operator; only the operator may resume it. */
export class WebhookHeld extends CommandRefused {
  override readonly code = "webhook_held";
  constructor() {
    super("This webhook was paused by the operator of the service, who alone can resume it");
  }
}

/** Another rotation of the same webhook's key holds the lock. */
export class RotationInFlight extends CommandRefused {
  override readonly code = "rotation_under_way";
  constructor() {
    super("The key of this webhook is being rotated by another request; try again in a moment");
  }
}

/** The secret is missing, for instance after a restore without the secrets. */
export class WebhookKeyMissing extends CommandRefused {
  override readonly code = "webhook_key_missing";
  constructor() {
    super("The key of this webhook is missing: make a new one");
  }
}
