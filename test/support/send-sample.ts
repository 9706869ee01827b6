// Sends the sample delivery as a test wants it, from a safe agent that ends with the test.
import type { Dispatcher } from "undici";
import { onTestFinished } from "vitest";
import { samplePayload } from "../../src/webhooks/click-payload.ts";
import { receiverResolver } from "../../src/webhooks/resolve-receiver.ts";
import { type SafeAgentDeps, safeAgent } from "../../src/webhooks/safe-connector.ts";
import { type AttemptResult, type SendDeliveryDeps, sendDelivery } from "../../src/webhooks/send-delivery.ts";

export const SAMPLE_KEY = "whk_abcdefghijklmnopqrstuvwxyz012345";
export const SAMPLE_ID = "0195a1b2-0000-7000-8000-000000000001";
export const SAMPLE_AT = "2026-03-04T05:06:07.890Z";
export const sampleBody = samplePayload("https://go.example", Date.parse(SAMPLE_AT));

/** Private receivers are allowed unless `deps` says otherwise. */
export function sendSample(
  url: string,
  deps: Partial<SendDeliveryDeps> = {},
  delivery: { previousKey?: string } = {},
): Promise<AttemptResult> {
  const allowPrivate = deps.allowPrivate ?? true;
  return sendDelivery(
    { dispatcher: deps.dispatcher ?? testAgent({ allowPrivate }), allowPrivate, now: Date.now, ...deps },
    { url, key: SAMPLE_KEY, id: SAMPLE_ID, body: sampleBody, event: "link.clicked", ...delivery },
  );
}

export function testAgent(deps: Partial<SafeAgentDeps> = {}): Dispatcher {
  const dispatcher = safeAgent({ allowPrivate: true, resolve: receiverResolver([]), ...deps });
  onTestFinished(() => dispatcher.destroy());
  return dispatcher;
}
