// LinkClicked of an imported click: its facts go the way of a hit, and what the other service didn't know is `unknown`.

import type { LinkClicked } from "../../events/catalogue.ts";
import { kindOf } from "../../events/classification/classify.ts";
import { cleanText } from "../../events/classification/clean-text.ts";
import { NO_RULE, UNKNOWN } from "../../events/vocabulary.ts";
import { addPlace, clickReader } from "../../redirect/clicks/click-event.ts";
import { nowhere, placeOf } from "../../redirect/clicks/enrich/geo.ts";
import { boundedHeader, packTarget, type RawHit } from "../../redirect/clicks/hit.ts";
import type { VisitorOf } from "../../redirect/clicks/visitors/visitor.ts";
import { Failure } from "../../runtime/errors.ts";
import type { ClickFacts } from "./imported.ts";
import type { TargetLink } from "./place-imported.ts";

/** As classification/user-agent.ts has them. */
const NAME_LENGTH = 64;

/**
 * `visitorOf`: codes under a salt of this import, which is not kept: visitors are told apart within one import only.
 * The function throws a Failure for a click in the future, and for one at a revision that the link has not had.
 */
export function clickDataOf(deps: { clock: () => Date; visitorOf: (at: string) => VisitorOf }) {
  const clickOf = clickReader({ locate: () => nowhere });
  return (link: TargetLink, facts: ClickFacts): LinkClicked => {
    const { at, device = UNKNOWN, isBot = false, isScan = false } = facts;
    if (at > deps.clock().toISOString()) throw new Failure(`${at} is in the future`);
    const hit = hitOf(link, facts);
    const { visitor, accountVisitor, ...data } = clickOf(hit, deps.visitorOf(at)).data;
    const hasAgent = data.userAgent !== undefined;
    if (!hasAgent || isBot) {
      const automated = isBot || device === "bot";
      data.kind = kindOf({ method: data.method, prefetch: data.prefetch ?? "", isScan, automated });
    }
    if (!hasAgent) {
      data.device = device;
      for (const part of ["browser", "os"] as const) {
        const name = cleanText(facts[part] ?? "", NAME_LENGTH);
        if (name !== "" && name !== UNKNOWN) data[part] = { name };
      }
    }
    addPlace(data, placeOf({ country_code: facts.country, state1: facts.region, city: facts.city }));
    if (facts.referrer === undefined) data.referrer = UNKNOWN;
    // Without an address it isn't known whose it is: many people have one user agent.
    const visitors = facts.visitors ?? (hit.address !== "" ? { visitor, accountVisitor } : {});
    return { type: "LinkClicked", data: { ...data, ...visitors } };
  };
}

/** @throws Failure */
function hitOf({ destinations, host: _, ...link }: TargetLink, facts: ClickFacts): RawHit {
  const { revision = 0, method = "GET", isScan = false, utm = {}, rule } = facts;
  const at = destinations[revision];
  if (!at) throw new Failure(`the link has had no revision ${revision} here`);
  const isOwn = rule === undefined || rule === NO_RULE;
  const longUrl = isOwn ? at.longUrl : at.rules.find(({ id }) => id === rule)?.url;
  if (longUrl === undefined)
    throw new Failure(`the link has had no rule ${rule} at its revision ${revision}`);
  const query = new URLSearchParams(isScan ? { qr: "1" } : {});
  for (const [field, value = ""] of Object.entries(utm)) query.set(`utm_${field}`, value);
  const header = (text = "") => boundedHeader(text);
  return {
    link: packTarget({ ...link, revision, longUrl, ...(rule !== undefined && { rule }) }),
    at: Date.parse(facts.at),
    method,
    query: query.toString(),
    address: header(facts.ip),
    country: "",
    userAgent: header(facts.userAgent),
    referrer: header(facts.referrer),
    language: header(facts.language),
    prefetch: header(facts.prefetch),
  };
}
