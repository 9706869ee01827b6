// Classifies recorded clicks again, under the present rules, from the facts in their events.

import { memoize, memoizeByObject } from "../../runtime/memoize.ts";
import type { LinkClicked, StoredEvent } from "../catalogue.ts";
import { isImportedClick } from "../streams.ts";
import { type Classified, classify, PRESENT_RULES } from "./classify.ts";
import { agentOf } from "./user-agent.ts";

type Click = LinkClicked["data"];

const readAgent = memoize(10_000, agentOf);
/** Several projections fold the same event. */
const byEvent = memoizeByObject((event: StoredEvent) =>
  withClassification(event as StoredEvent & LinkClicked),
);

/**
 * The event as the present rules would have classified it; the same event when it was recorded under `rules`, and when it is
 * no click.
 */
export function reclassified<E extends StoredEvent>(event: E, rules: string): E {
  if (event.type !== "LinkClicked" || event.data.rules === rules) return event;
  return byEvent(event) as E;
}

/** What the present rules say of a recorded click. */
export function classifiedNow({
  data,
  stream,
}: Pick<StoredEvent & LinkClicked, "data" | "stream">): Classified {
  const { method, prefetch = "", userAgent = "" } = data;
  const now = classify({ method, prefetch, userAgent, isScan: false }, readAgent);
  return {
    ...now,
    // That the QR image was scanned is not in the event otherwise.
    kind: data.kind === "qr_scan" ? "qr_scan" : now.kind,
    ...(isImportedClick(stream) && importedBefore(data)),
  };
}

/** What another service knew, and the event has no facts for. */
function importedBefore({ userAgent, kind, device, browser, os }: Click): Partial<Classified> {
  if (userAgent === undefined) return { kind, device, browser, os };
  return kind === "preview" ? { kind } : {};
}

function withClassification(event: StoredEvent & LinkClicked): StoredEvent {
  const { browser, os, ...now } = classifiedNow(event);
  const { browser: _browser, os: _os, ...facts } = event.data;
  const data: Click = { ...facts, ...now, rules: PRESENT_RULES };
  if (browser) data.browser = browser;
  if (os) data.os = os;
  return { ...event, data };
}
