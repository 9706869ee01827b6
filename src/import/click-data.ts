// LinkClicked of an imported click: what the other service knew, read by our rules; what it didn't know is `unknown`.
import { kindOf, PRESENT_RULES } from "../classification/classify.ts";
import { cleanText } from "../classification/clean-text.ts";
import { referrerOf } from "../classification/referrer.ts";
import { agentOf } from "../classification/user-agent.ts";
import type { LinkClicked } from "../events/catalogue.ts";
import { UNKNOWN } from "../events/vocabulary.ts";
import { addPlace, addText, addUtm } from "../redirect/clicks/click-event.ts";
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
  const placeName = (name: string | undefined) => cleanText(name ?? "", NAME_LENGTH);

  const known = (facts: ClickFacts, { host: _, ...link }: TargetLink): LinkClicked["data"] => {
    const { userAgent: header = "", ip = "", isBot } = facts;
    const parsed = header === "" ? undefined : agent(header);
    const automated = isBot || parsed?.automated === true;
    const visit = { address: ip, userAgent: parsed?.userAgent ?? "" };
    const visitorOf = deps.visitorOf(facts.at);
    const data: LinkClicked["data"] = {
      ...link,
      linkRevision: 0,
      at: facts.at,
      kind: facts.kind ?? kindOf({ method: "GET", isScan: false, prefetch: "", automated }),
      rules: PRESENT_RULES,
      method: "GET",
      device: parsed?.device ?? facts.device ?? UNKNOWN,
    };
    const network = anonymiseIp(ip);
    if (network) data.ip = network;
    const browser = parsed ? parsed.browser : facts.browser && { name: facts.browser };
    const os = parsed ? parsed.os : facts.os && { name: facts.os };
    if (browser) data.browser = browser;
    if (os) data.os = os;
    addText(data, {
      userAgent: parsed?.userAgent ?? "",
      prefetch: "",
      referrer: facts.referrer === undefined ? UNKNOWN : referrer(facts.referrer),
      language: "",
    });
    const country = /^[a-z]{2}$/i.test(facts.country ?? "") ? String(facts.country).toUpperCase() : "";
    addPlace(data, { country, region: placeName(facts.region), city: placeName(facts.city) });
    addUtm(data, utmOf(queryOf(link.longUrl)));
    if (ip === "" && header === "") return data;
    data.visitor = visitorOf({ ...visit, of: link.link });
    data.accountVisitor = visitorOf({ ...visit, of: link.accountId });
    return data;
  };

  return (link, click) => {
    const { host: _, ...target } = link;
    const data = "own" in click ? { ...target, ...click.own } : known(click.facts, link);
    if (timeOf(data.at) > deps.clock().toISOString()) throw new RecordRefused(`${data.at} is in the future`);
    return { type: "LinkClicked", data };
  };
}
