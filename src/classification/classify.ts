// The versioned rules by which a hit is a click, a preview or a scan, of a device, a browser and a site; each event keeps
// which ones were applied to it.
import isbotPackage from "isbot/package.json" with { type: "json" };
import parserPackage from "ua-parser-js/package.json" with { type: "json" };
import type { LinkClicked } from "../events/catalogue.ts";
import type { ClickKind } from "../events/vocabulary.ts";
import { type Referrer, referrerOf } from "./referrer.ts";
import { type Agent, agentOf } from "./user-agent.ts";

type Click = LinkClicked["data"];

/** Which rules classified a click: an update of a library may classify it differently. */
export type AppliedRules = Pick<Click, "rules" | "botList" | "agentParser">;

/** `rules`: to be raised with every change of what this folder says of a hit. */
export const PRESENT_RULES = {
  rules: 2,
  botList: `isbot@${isbotPackage.version}`,
  agentParser: `ua-parser-js@${parserPackage.version}`,
} as const satisfies AppliedRules;

/** Such as `rules 2, isbot@5.2.3, ua-parser-js@1.0.41`; equal texts are the same rules. */
export function rulesText({ rules, botList, agentParser }: AppliedRules): string {
  return [`rules ${rules}`, botList ?? "isbot unknown", agentParser ?? "ua-parser-js unknown"].join(", ");
}

/** What the rules read: all of it is in the event. */
export type Facts = Pick<Click, "method" | "prefetch" | "userAgent" | "referrer"> & {
  /** Whether the QR image's address was followed. */
  isScan: boolean;
};

export type Classified = Pick<Click, "kind" | "device" | "browser" | "os" | "referrerHost">;

/** The readings that repeat, so that a caller can memoize them. */
export type Readings = { agent: (header: string) => Agent; referrer: (header: string) => Referrer };

/** Pure. The recorder applies the same functions to the parts of a hit, and keeps them in rows (redirect/clicks). */
export function classify(
  { method, prefetch, userAgent, referrer, isScan }: Facts,
  readings: Readings = { agent: agentOf, referrer: referrerOf },
): Classified {
  const { automated, device, browser, os } = readings.agent(userAgent);
  const { referrerHost } = readings.referrer(referrer);
  return { kind: kindOf({ method, prefetch, automated, isScan }), device, browser, os, referrerHost };
}

export type KindFacts = Pick<Facts, "method" | "prefetch" | "isScan"> & { automated: boolean };

/** Automated requests and prefetches are previews whatever the query; only then does `?qr=1` make a scan. */
export function kindOf({ method, prefetch, automated, isScan }: KindFacts): ClickKind {
  if (method === "HEAD" || automated || isPrefetch(prefetch)) return "preview";
  return isScan ? "qr_scan" : "click";
}

function isPrefetch(purpose: string): boolean {
  return purpose !== "" && /prefetch|preview|prerender/i.test(purpose);
}

/** The QR image encodes `?qr=1`, exactly. `query`: of the short URL, without `?`. */
export function isQrScan(query: string): boolean {
  return query === "qr=1" || (query.includes("qr=1") && new URLSearchParams(query).get("qr") === "1");
}
