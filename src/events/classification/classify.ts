// The versioned rules by which a hit is a click, a preview or a scan, of a device and a browser; each event keeps which
// ones were applied to it.
import isbotPackage from "isbot/package.json" with { type: "json" };
import parserPackage from "ua-parser-js/package.json" with { type: "json" };
import type { LinkClicked } from "../catalogue.ts";
import type { ClickKind } from "../vocabulary.ts";
import { type Agent, agentOf } from "./user-agent.ts";

/** The first number is to be raised with every change of what this folder says of a hit; equal texts are the same rules. */
export const PRESENT_RULES = `5, isbot@${isbotPackage.version}, ua-parser-js@${parserPackage.version}`;

/** What the rules read: all of it is in the event, but for the scan. */
export type Facts = {
  method: LinkClicked["data"]["method"];
  prefetch: string;
  userAgent: string;
  /** Whether the QR image's address was followed. */
  isScan: boolean;
};

/** What the rules say; absent as in the event of a click. */
export type Classified = { kind: ClickKind } & Pick<Agent, "device"> & Partial<Pick<Agent, "browser" | "os">>;

/** Pure. `read`: the reading of user agents, which repeat, so that a caller can memoize it. */
export function classify(
  { userAgent, ...facts }: Facts,
  read: (header: string) => Agent = agentOf,
): Classified {
  const { automated, device, browser, os } = read(userAgent);
  return { kind: kindOf({ ...facts, automated }), device, browser, os };
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
