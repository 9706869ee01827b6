// Sends the sample delivery as a test wants it, by a sender that ends with the test.
import { onTestFinished } from "vitest";
import type { SigningSecrets } from "../../../src/commands/webhooks/signing-key.ts";
import { LINK_CLICKED } from "../../../src/events/webhook-selection.ts";
import {
  type AttemptResult,
  type DeliverySender,
  type DeliverySenderDeps,
  deliverySender,
} from "../../../src/webhooks/delivery/send-delivery.ts";
import { receiverResolver } from "../../../src/webhooks/receiver/resolve-receiver.ts";
import { samplePayload } from "../../../src/webhooks/routing/sample-payload.ts";

export const SAMPLE_KEY = "whk_abcdefghijklmnopqrstuvwxyz012345";
export const SAMPLE_SECRETS: SigningSecrets = { key: SAMPLE_KEY, seed: "abcdefghijklmnopqrstuvwxyz012345" };
export const SAMPLE_ID = "0195a1b2-0000-7000-8000-000000000001";
export const SAMPLE_AT = "2026-03-04T05:06:07.890Z";
export const sampleBody = samplePayload(LINK_CLICKED, "https://go.example", Date.parse(SAMPLE_AT));

/** Private receivers are allowed unless `deps` says otherwise. */
export function sendSample(
  url: string,
  { sender, ...deps }: Partial<DeliverySenderDeps> & { sender?: DeliverySender } = {},
  previous: readonly SigningSecrets[] = [],
): Promise<AttemptResult> {
  const secrets = [SAMPLE_SECRETS, ...previous] as const;
  const sample = { url, secrets, id: SAMPLE_ID, body: sampleBody, event: "link.clicked" };
  return (sender ?? testSender(deps)).send(sample);
}

export function testSender(deps: Partial<DeliverySenderDeps> = {}): DeliverySender {
  const usual = { allowPrivate: true, resolve: receiverResolver([]), now: Date.now };
  const sender = deliverySender({ ...usual, ...deps });
  onTestFinished(() => sender.destroy());
  return sender;
}
