// What a webhook may be set to: an address that deliveries can go to, at least one kind of click, a short label.

import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import { DomainError } from "../../runtime/errors.ts";
import { isThisService } from "../links/accept-url.ts";
import { InvalidWebhook } from "./webhook-errors.ts";

/** `receiverUrl`: the URL, parsed; throws a DomainError that says why no delivery may ever go there. */
export type AcceptWebhookDeps = {
  baseUrl: string;
  baseHost: string;
  receiverUrl: (text: string) => URL;
};

const MAX_LABEL_LENGTH = 100;

/**
 * The URL in normalised form, without a fragment, which is never sent. What follows `?` is kept: it is a part of the
 * address, as the path is, and not a place for secrets.
 * @throws InvalidWebhook
 */
export function acceptReceiver(deps: AcceptWebhookDeps, given: string): string {
  const url = parse(deps, given.trim());
  if (isThisService(deps, url))
    throw new InvalidWebhook("The webhook URL must not point back to this service");
  url.hash = "";
  return url.href;
}

/** @throws InvalidWebhook for none, or one that isn't a kind of click */
export function acceptKinds(given: readonly string[]): ClickKind[] {
  const kinds = CLICK_KINDS.filter((kind) => given.includes(kind));
  const unknown = given.find((kind) => !(CLICK_KINDS as readonly string[]).includes(kind));
  if (kinds.length === 0 || unknown !== undefined)
    throw new InvalidWebhook(`The kinds of a webhook are one or more of ${CLICK_KINDS.join(", ")}`);
  return kinds;
}

export function acceptLabel(given: string): string {
  return given.trim().slice(0, MAX_LABEL_LENGTH);
}

function parse(deps: AcceptWebhookDeps, given: string): URL {
  try {
    return deps.receiverUrl(given);
  } catch (error) {
    throw error instanceof DomainError ? new InvalidWebhook(error.message, { cause: error }) : error;
  }
}
