// LinkClicked of an imported click: what the other service knew, read by our rules; what it didn't know is `unknown`.
import { kindOf, PRESENT_RULES } from "../classification/classify.ts";
import { cleanText } from "../classification/clean-text.ts";
import { referrerOf } from "../classification/referrer.ts";
import { agentOf } from "../classification/user-agent.ts";
import type { LinkClicked } from "../events/catalogue.ts";
import { UNKNOWN } from "../events/vocabulary.ts";
import { anonymiseIp } from "../redirect/clicks/enrich/anonymise-ip.ts";
import { queryOf, utmOf } from "../redirect/clicks/enrich/utm.ts";
import type { VisitorOf } from "../redirect/clicks/visitors/visitor.ts";
import { memoize } from "../runtime/memoize.ts";
import { timeOf } from "./fields.ts";
import type { TargetLink } from "./import-link.ts";
import type { ClickFacts, ImportedClick } from "./imported.ts";
import { RecordRefused } from "./imported.ts";

export type ClickDataOf = (link: TargetLink, click: ImportedClick) => LinkClicked;

const NAME_LENGTH = 64;

/**
 * `visitorOf`: codes under a salt of this import, which is not kept: visitors are told apart within one import only.
 * @throws RecordRefused for a click in the future
 */
export function clickDataOf(deps: { clock: () => Date; visitorOf: (at: string) => VisitorOf }): ClickDataOf {
  const agent = memoize(10_000, agentOf);
  const referrer = memoize(5_000, referrerOf);
  const named = (name: string | undefined) => ({ name: name ?? UNKNOWN, version: "" });
  const placeName = (name: string | undefined) => cleanText(name ?? "", NAME_LENGTH) || UNKNOWN;

  const known = (facts: ClickFacts, { host: _, ...link }: TargetLink): LinkClicked["data"] => {
    const { userAgent: header = "", ip = "", isBot } = facts;
    const parsed = header === "" ? undefined : agent(header);
    const automated = isBot || parsed?.automated === true;
    const visit = { address: ip, userAgent: parsed?.userAgent ?? "" };
    const visitorOf = deps.visitorOf(facts.at);
    const isSomebody = ip !== "" || header !== "";
    return {
      ...link,
      linkRevision: 0,
      at: facts.at,
      kind: facts.kind ?? kindOf({ method: "GET", isScan: false, prefetch: "", automated }),
      ...PRESENT_RULES,
      method: "GET",
      userAgent: parsed?.userAgent ?? "",
      device: parsed?.device ?? facts.device ?? UNKNOWN,
      browser: parsed?.browser ?? named(facts.browser),
      os: parsed?.os ?? named(facts.os),
      ip: anonymiseIp(ip),
      country: /^[a-z]{2}$/i.test(facts.country ?? "") ? String(facts.country).toUpperCase() : UNKNOWN,
      region: placeName(facts.region),
      city: placeName(facts.city),
      ...(facts.referrer === undefined ? { referrer: "", referrerHost: UNKNOWN } : referrer(facts.referrer)),
      utm: utmOf(queryOf(link.longUrl)),
      language: "",
      prefetch: "",
      visitor: isSomebody ? visitorOf({ ...visit, of: link.link }) : "",
      ...(isSomebody && { accountVisitor: visitorOf({ ...visit, of: link.accountId }) }),
    };
  };

  return (link, click) => {
    const { host: _, ...target } = link;
    const data = "own" in click ? { ...target, ...click.own } : known(click.facts, link);
    if (timeOf(data.at) > deps.clock().toISOString()) throw new RecordRefused(`${data.at} is in the future`);
    return { type: "LinkClicked", data };
  };
}
