// The versioned rules that classify a hit as click, preview or qr_scan; each event keeps the version applied to it.
import isbotPackage from "isbot/package.json" with { type: "json" };
import type { ClickKind } from "../../../events/vocabulary.ts";

/** To be raised with every change of these rules or of automated-agents.ts. */
export const KIND_RULES_VERSION = 2;

/** The bot list that the rules use: an update may classify a user agent differently. */
export const BOT_LIST = `isbot@${isbotPackage.version}`;

export type KindFacts = {
  method: "GET" | "HEAD";
  /** Query of the short URL, without `?`. */
  query: string;
  /** Value of the prefetch header, cleaned. */
  prefetch: string;
  automated: boolean;
};

/** Automated requests and prefetches are previews whatever the query; only then does `?qr=1` make a scan. */
export function kindOf(facts: KindFacts): ClickKind {
  if (facts.method === "HEAD" || facts.automated || isPrefetch(facts.prefetch)) return "preview";
  return isQrScan(facts.query) ? "qr_scan" : "click";
}

function isPrefetch(purpose: string): boolean {
  return purpose !== "" && /prefetch|preview|prerender/i.test(purpose);
}

/** The QR image encodes `?qr=1`, exactly. */
function isQrScan(query: string): boolean {
  return query === "qr=1" || (query.includes("qr=1") && new URLSearchParams(query).get("qr") === "1");
}
