// What a visitor of a link gets: its status, limit, password and rules decide; the click is recorded before the redirect.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Brand } from "../../commands/account/account.ts";
import { type LinkStatus, linkStatus } from "../../events/links/link-status.ts";
import { locationOf } from "../../runtime/addresses/location.ts";
import { hitOf, type RawHit } from "../clicks/hit.ts";
import type { ClickRecorder } from "../clicks/recorder.ts";
import type { BrandLookup } from "../lookup/brand-lookup.ts";
import type { EntryOptions, LinkEntry, Target } from "../lookup/link-entry.ts";
import type { PostedForm } from "../password/password-form.ts";
import type { CountryOf } from "../rules/country-of.ts";
import { firstRule } from "../rules/first-rule.ts";
import { withQueryOf } from "../rules/forward-query.ts";
import type { ReadVisit, VisitOf } from "../rules/visit.ts";
import type { Admit } from "../visits/admission.ts";
import { answerMoved, answerMovedForNow, answerRefused, type LinkRefusal, SEE_OTHER } from "./answers.ts";
import type { PageLook } from "./plain-page.ts";
import type { Requester } from "./requester.ts";

/** Redirects by outcome; plain counters that the metrics collector reads at each scrape. */
export type RedirectStats = {
  found: number;
  notFound: number;
  disabled: number;
  blocked: number;
  /** Outside of the link's time, or beyond its clicks. */
  expired: number;
  /** Answered with the page that asks for the password. */
  asked: number;
  error: number;
};

export type FollowDeps = {
  brands: BrandLookup;
  recorder: Pick<ClickRecorder, "record">;
  /** For links with options. */
  visitOf: VisitOf;
  countryOf: CountryOf;
  admit: Admit;
  requester: Pick<Requester, "address" | "countryOf">;
  baseHost: string;
  /** Of this service, which a 451 names as who blocks. */
  baseUrl: string;
  /** Milliseconds since 1970. */
  now: () => number;
  stats: RedirectStats;
};

/** `query`: of the short URL, raw. `form`: of a POST. */
export type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: () => string;
  query: string;
  form?: PostedForm;
};

/** Answers are written when the promise resolves, or now where there is none. */
export type LinkFollower = {
  /** Of a link without options: a promise only if the redirect has to wait for its click. @throws what the stores throw */
  follow(entry: LinkEntry, exchange: Exchange): Promise<void> | undefined;
  /** As if there were no such link: in the look of who has the domain, or where they lead such visitors. */
  answerMissing(host: string, exchange: Exchange): Promise<void> | undefined;
};

/** `baseHost`: canonical. */
export function linkFollower(deps: FollowDeps): LinkFollower {
  const { brands, recorder, requester, visitOf, countryOf, admit, stats, now, baseHost } = deps;
  const isHttps = deps.baseUrl.startsWith("https:");

  function answerMissing(host: string, exchange: Exchange): Promise<void> | undefined {
    if (host !== baseHost)
      return brands.ofHost(host).then((brand) => lead(brand, host, exchange, "link_not_found"));
    refuse(exchange, "link_not_found");
    return undefined;
  }

  /** To the account's own page, on its domains alone; a fallback that has become such a link would lead in circles. */
  function lead(brand: Brand | undefined, host: string, exchange: Exchange, reason: LinkRefusal): void {
    const { fallbackUrl } = brand ?? {};
    const isLed = fallbackUrl !== undefined && host !== baseHost && URL.parse(fallbackUrl)?.hostname !== host;
    const code = exchange.form ? SEE_OTHER : 302;
    if (isLed) answerMovedForNow(locationOf(fallbackUrl), exchange.response, code);
    else refuse(exchange, reason, brand);
  }

  function follow(entry: LinkEntry, exchange: Exchange): Promise<void> | undefined {
    const { response, form } = exchange;
    const at = now();
    // Its domain serves it, or it was not found; how many people it has led is counted where it has a limit.
    const status = linkStatus(entry.facts, { now: at, people: 0, isServed: true });
    if (status === "disabled" || status === "deleted") {
      stats.disabled += 1;
      return answerMissing(entry.host, exchange);
    }
    if (entry.block) return answerBlocked(entry.block, exchange);
    if (entry.options) return followWithOptions(entry, entry.options, { status, at, exchange });
    const send = () => {
      stats.found += 1;
      answerMoved(entry.location, response, form ? SEE_OTHER : undefined);
    };
    const wait = recorder.record(hitOf(entry.packed, exchange, requester, at));
    if (wait) return wait.then(send);
    send();
    return undefined;
  }

  function answerBlocked({ legal }: NonNullable<LinkEntry["block"]>, exchange: Exchange): undefined {
    stats.blocked += 1;
    if (legal) exchange.response.setHeader("link", `<${deps.baseUrl}>; rel="blocked-by"`);
    refuse(exchange, legal ? "link_blocked_legally" : "link_blocked");
  }

  /** The link's time first, then its limit, password and rules. A visit that is not let in is no click. */
  async function followWithOptions(
    entry: LinkEntry,
    options: EntryOptions,
    { status, at, exchange }: { status: LinkStatus; at: number; exchange: Exchange },
  ): Promise<void> {
    const { request, response, requestId, form } = exchange;
    const { expiredLocation } = options;
    const code = form ? SEE_OTHER : options.code;
    const hit = hitOf(entry.packed, exchange, requester, at);
    const look = () => brands.ofAccount(entry.accountId);
    const answerInstead = async (reason: LinkRefusal) => {
      stats.expired += 1;
      if (expiredLocation === undefined) lead(await look(), entry.host, exchange, reason);
      else answerMovedForNow(expiredLocation, response, code);
    };
    // The destination of what is over is nobody's before it has begun.
    if (status === "scheduled") {
      stats.expired += 1;
      return refuse(exchange, "link_not_active", await look());
    }
    if (status === "expired") return answerInstead("link_expired");
    const visit = visitOf(options.key, hit);
    let target: Target = entry;
    const record = async () => {
      target = (await ruleFor(options, hit, visit)) ?? entry;
      await recorder.record({ ...hit, link: target.packed });
    };
    const visitor = {
      request,
      response,
      form,
      requestId: requestId(),
      now: hit.at,
      address: hit.address,
      isSecure: isHttps || entry.host !== baseHost,
      look,
      get isPerson() {
        return visit.isPerson;
      },
    };
    const admission = await admit(options, visitor, record);
    if (admission === "exhausted") return answerInstead("link_exhausted");
    if (admission === "answered") {
      stats.asked += 1;
      return;
    }
    stats.found += 1;
    const { forwardQuery } = options;
    const location = forwardQuery ? withQueryOf(hit.query, target.location, forwardQuery) : target.location;
    if (options.changes) answerMovedForNow(location, response, code);
    else answerMoved(location, response, code);
  }

  /** The country of the address is looked up where it matters, and no proxy has named it. */
  async function ruleFor({ key, rules }: EntryOptions, hit: RawHit, visit: ReadVisit) {
    const rule = firstRule(rules, visit);
    if (!visit.needsCountry) return rule;
    return firstRule(rules, visitOf(key, { ...hit, country: await countryOf(hit.address) }));
  }

  return { follow, answerMissing };
}

export function refuse({ request, response, requestId }: Exchange, code: LinkRefusal, look?: PageLook): void {
  answerRefused(request, response, requestId(), code, look);
}
