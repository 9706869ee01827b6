// Why a webhook was refused (errors.ts).
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

/** As after a restore without the secrets. */
export class WebhookKeyMissing extends CommandRefused {
  override readonly code = "webhook_key_missing";
  constructor() {
    super("The key of this webhook is missing: make a new one");
  }
}
