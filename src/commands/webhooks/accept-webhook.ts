// Validates a webhook's settings: receiver URL, kinds of click, label.
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import { DomainError } from "../../runtime/errors.ts";
import { isThisService } from "../links/accept-url.ts";
import { InvalidWebhook } from "./webhook-errors.ts";

/** `receiverUrl`: parses the URL; throws a DomainError when deliveries to it are not allowed. */
export type AcceptWebhookDeps = {
  baseUrl: string;
  baseHost: string;
  receiverUrl: (text: string) => URL;
};

/**
 * Returns the normalised URL without its fragment, which is never sent. The query is kept; it is stored in events, so it
 * must not carry secrets.
 * @throws InvalidWebhook
 */
export function acceptReceiver(deps: AcceptWebhookDeps, given: string): string {
  const url = parse(deps, given.trim());
  if (isThisService(deps, url))
    throw new InvalidWebhook("The webhook URL must not point back to this service");
  url.hash = "";
  return url.href;
}

/** @throws InvalidWebhook for an empty list or an unknown kind */
export function acceptKinds(given: readonly string[]): ClickKind[] {
  const kinds = CLICK_KINDS.filter((kind) => given.includes(kind));
  const unknown = given.find((kind) => !(CLICK_KINDS as readonly string[]).includes(kind));
  if (kinds.length === 0 || unknown !== undefined)
    throw new InvalidWebhook(`The kinds of a webhook are one or more of ${CLICK_KINDS.join(", ")}`);
  return kinds;
}

function parse(deps: AcceptWebhookDeps, given: string): URL {
  try {
    return deps.receiverUrl(given);
  } catch (error) {
    throw error instanceof DomainError ? new InvalidWebhook(error.message, { cause: error }) : error;
  }
}
