// Classifies recorded clicks again, under the present rules, from the facts in their events.
import type { LinkClicked, StoredEvent } from "../events/catalogue.ts";
import { isImportedClick } from "../events/streams.ts";
import { memoize, memoizeByObject } from "../runtime/memoize.ts";
import { type Classified, classify, PRESENT_RULES, type Readings, rulesText } from "./classify.ts";
import { referrerOf } from "./referrer.ts";
import { agentOf } from "./user-agent.ts";

const readings: Readings = { agent: memoize(10_000, agentOf), referrer: memoize(5_000, referrerOf) };
/** Several projections fold the same event. */
const byEvent = memoizeByObject((event: StoredEvent) =>
  withClassification(event as StoredEvent & LinkClicked),
);

/**
 * The event as the present rules would have classified it; the same event when it was recorded under `rules` (rulesText),
 * and when it is no click.
 */
export function reclassified<E extends StoredEvent>(event: E, rules: string): E {
  if (event.type !== "LinkClicked" || rulesText(event.data) === rules) return event;
  return byEvent(event) as E;
}

/** What the present rules say of a recorded click. */
export function classifiedNow({
  data,
  stream,
}: Pick<StoredEvent & LinkClicked, "data" | "stream">): Classified {
  const { method, prefetch, userAgent, referrer } = data;
  const now = classify({ method, prefetch, userAgent, referrer, isScan: false }, readings);
  return {
    // That the QR image was scanned is not in the event otherwise.
    kind: data.kind === "qr_scan" ? "qr_scan" : now.kind,
    device: now.device,
    browser: now.browser,
    os: now.os,
    // Without a URL there is nothing to read: the click was direct, or its referrer is not known.
    referrerHost: referrer === "" ? data.referrerHost : now.referrerHost,
    ...(isImportedClick(stream) && importedBefore(data)),
  };
}

/** What another service knew, and the event has no facts for. */
function importedBefore({ userAgent, kind, device, browser, os }: LinkClicked["data"]): Partial<Classified> {
  if (userAgent === "") return { kind, device, browser, os };
  return kind === "preview" ? { kind } : {};
}

function withClassification(event: StoredEvent & LinkClicked): StoredEvent {
  return { ...event, data: { ...event.data, ...classifiedNow(event), ...PRESENT_RULES } };
}
