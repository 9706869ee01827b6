// The versioned rules that say what kind of event a hit is; old events keep the version that judged them.
import isbotPackage from "isbot/package.json" with { type: "json" };
import type { ClickKind } from "../../../events/vocabulary.ts";

/** Raised with every change of these rules or of automated-agents.ts. */
export const KIND_RULES_VERSION = 2;

/** The list of programs that the rules rely on: an update of it may judge a user agent differently. */
export const BOT_LIST = `isbot@${isbotPackage.version}`;

export type KindFacts = {
  method: "GET" | "HEAD";
  /** Query of the short URL, without `?`. */
  query: string;
  /** Purpose headers as sent, joined. */
  prefetch: string;
  automated: boolean;
};

/** A look by no person is a preview, whatever the query; a person's hit of the QR image's address a scan. */
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
