// Validates a webhook's settings: receiver URL, kinds of click, label.
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import { isThisService } from "../links/accept-url.ts";

/** `receiverUrl`: parses the URL; throws a refusal when deliveries to it are not allowed. */
export type AcceptWebhookDeps = {
  baseUrl: string;
  baseHost: string;
  receiverUrl: (text: string) => URL;
};

/**
 * Returns the normalised URL without its fragment, which is never sent. The query is kept; it is stored in events, so it
 * must not carry secrets.
 * @throws invalid_webhook
 */
export function acceptReceiver(deps: AcceptWebhookDeps, given: string): string {
  const url = parse(deps, given.trim());
  if (isThisService(deps, url))
    throw new Refused("invalid_webhook", "The webhook URL must not point back to this service");
  url.hash = "";
  return url.href;
}

/** @throws invalid_webhook for an empty list or an unknown kind */
export function acceptKinds(given: readonly string[]): ClickKind[] {
  const kinds = CLICK_KINDS.filter((kind) => given.includes(kind));
  const unknown = given.find((kind) => !(CLICK_KINDS as readonly string[]).includes(kind));
  if (kinds.length === 0 || unknown !== undefined)
    throw new Refused(
      "invalid_webhook",
      `The kinds of a webhook are one or more of ${CLICK_KINDS.join(", ")}`,
    );
  return kinds;
}

function parse(deps: AcceptWebhookDeps, given: string): URL {
  try {
    return deps.receiverUrl(given);
  } catch (error) {
    throw isRefused(error) ? new Refused("invalid_webhook", error.message, { cause: error }) : error;
  }
}
