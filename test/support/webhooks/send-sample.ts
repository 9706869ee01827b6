// Sends the sample delivery as a test wants it, from a safe agent that ends with the test.
import type { Dispatcher } from "undici";
import { onTestFinished } from "vitest";
import {
  type AttemptResult,
  type SendDeliveryDeps,
  sendDelivery,
} from "../../../src/webhooks/delivery/send-delivery.ts";
import { receiverResolver } from "../../../src/webhooks/receiver/resolve-receiver.ts";
import { type SafeAgentDeps, safeAgent } from "../../../src/webhooks/receiver/safe-connector.ts";
import { samplePayload } from "../../../src/webhooks/routing/click-payload.ts";

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
