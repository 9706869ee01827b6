// GET and HEAD /{slug}, and POST for its password: the redirect (interface, part 4). Runs before Fastify, not for its CPU
// time, which is 2 us of 30: redirects are answered while the routes are loaded, and slugs of other hosts are no routes.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Brand } from "../../commands/account/account.ts";
import { RESERVED_WORDS } from "../../commands/links/slug.ts";
import { isRefused } from "../../commands/refusals.ts";
import { type LinkStatus, linkStatus } from "../../events/links/link-status.ts";
import { locationOf } from "../../runtime/addresses/location.ts";
import { DomainError } from "../../runtime/errors.ts";
import type { Logger } from "../../runtime/logging.ts";
import type { RawHit } from "../clicks/hit.ts";
import type { ClickRecorder } from "../clicks/recorder.ts";
import type { BrandLookup } from "../lookup/brand-lookup.ts";
import type { EntryOptions, LinkEntry, Target } from "../lookup/link-entry.ts";
import type { LinkLookup } from "../lookup/lookup.ts";
import { type PostedForm, postedForm } from "../password/password-form.ts";
import type { CountryOf } from "../rules/country-of.ts";
import { firstRule } from "../rules/first-rule.ts";
import { withQueryOf } from "../rules/forward-query.ts";
import type { ReadVisit, VisitOf } from "../rules/visit.ts";
import type { Admit } from "../visits/admission.ts";
import { answerMoved, answerMovedForNow, answerRefused, type LinkRefusal, SEE_OTHER } from "./answers.ts";
import { hitOf } from "./hit-of-request.ts";
import { hostResolver } from "./hosts.ts";
import type { PageLook } from "./plain-page.ts";
import type { Requester } from "./requester.ts";
import { slugTarget } from "./slug-target.ts";

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

export type RedirectDeps = {
  lookup: Pick<LinkLookup, "peek" | "find">;
  brands: BrandLookup;
  recorder: Pick<ClickRecorder, "record">;
  /** For links with options. */
  visitOf: VisitOf;
  countryOf: CountryOf;
  admit: Admit;
  baseHost: string;
  /** Of this service, which a 451 names as who blocks. */
  baseUrl: string;
  /** Milliseconds since 1970. */
  now: () => number;
  stats: RedirectStats;
};

export type RedirectHandlerDeps = RedirectDeps & {
  requester: Requester;
  /** The request id for error answers and log lines. */
  requestIdOf: (request: IncomingMessage) => string;
  log: Pick<Logger, "error">;
};

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * True when the handler has answered the request, or will answer it or call `passOn` with it untouched; false when
 * it is to be passed on now.
 */
export type HandleRequest = (request: IncomingMessage, response: ServerResponse, passOn: Handle) => boolean;

/** A refusal so long after the last one is of another outage. */
const OUTAGE_OVER_MS = 60_000;

const METHODS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "POST"]);

/** `query`: of the short URL, raw. `form`: of a POST. */
type Exchange = { request: IncomingMessage; response: ServerResponse; query: string; form?: PostedForm };

/**
 * Handles every GET and HEAD of one path segment on any host, except reserved words on the base host, and a POST
 * of those to links with a password. Fast path: a cached link whose click is queued is answered synchronously.
 */
export function redirectHandler(deps: RedirectHandlerDeps): HandleRequest {
  const { lookup, brands, recorder, requester, visitOf, countryOf, admit, stats, now, requestIdOf } = deps;
  const isHttps = deps.baseUrl.startsWith("https:");
  const hostOf = hostResolver(deps.baseHost);
  const baseHost = hostOf(deps.baseHost);
  let lastRefusedAt = Number.NEGATIVE_INFINITY;

  const refuse = ({ request, response }: Exchange, code: LinkRefusal, look?: PageLook) =>
    answerRefused(request, response, requestIdOf(request), code, look);

  /** As if there were no such link: in the look of who has the domain, or where they lead such visitors. */
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

  function answer(host: string, slug: string, exchange: Exchange): Promise<void> | undefined {
    const entry = lookup.peek(host, slug);
    if (entry) return follow(entry, exchange);
    return lookup.find(host, slug).then((loaded) => {
      if (loaded) return follow(loaded, exchange);
      stats.notFound += 1;
      return answerMissing(host, exchange);
    });
  }

  /** What a link without a password is sent goes where it would go without the link. */
  async function answerForm(host: string, slug: string, exchange: Exchange, passOn: Handle): Promise<void> {
    const entry = lookup.peek(host, slug) ?? (await lookup.find(host, slug));
    if (entry?.options?.passwordId === undefined) return passOn(exchange.request, exchange.response);
    // A body may take half a minute: the link is answered as it is then.
    await answer(host, slug, { ...exchange, form: await postedForm(exchange.request) });
  }

  /** Of a link without options: a promise only if the redirect has to wait for its click. */
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
    const wait = recorder.record(hitOf(entry, exchange, requester, at));
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
    const { request, response, form } = exchange;
    const { expiredLocation } = options;
    const code = form ? SEE_OTHER : options.code;
    const hit = hitOf(entry, exchange, requester, at);
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
      requestId: requestIdOf(request),
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

  /** Answers 503; the cause goes to the log only: one line an outage, without a stack, as many are refused as come. */
  function unavailable(err: unknown, exchange: Exchange): void {
    stats.error += 1;
    const code =
      (["recorder_busy", "too_busy"] as const).find((busy) => isRefused(err, busy)) ?? "store_unavailable";
    if (!(err instanceof DomainError))
      deps.log.error(
        { err, request_id: requestIdOf(exchange.request) },
        "a short link could not be followed",
      );
    else if (code !== "too_busy") {
      if (now() - lastRefusedAt > OUTAGE_OVER_MS)
        deps.log.error({ code, reason: err.message }, "short links are answered 503");
      lastRefusedAt = now();
    }
    if (exchange.response.headersSent) exchange.response.destroy();
    else refuse(exchange, code);
  }

  return (request, response, passOn) => {
    if (!METHODS.has(request.method)) return false;
    const target = slugTarget(request.url ?? "");
    if (target === undefined) return false;
    const { slug, query } = target;
    const host = hostOf(requester.host(request));
    if (host === baseHost && RESERVED_WORDS.has(slug)) return false;
    const exchange: Exchange = { request, response, query };
    try {
      const isPost = request.method === "POST";
      const answering = isPost ? answerForm(host, slug, exchange, passOn) : answer(host, slug, exchange);
      answering?.catch((err: unknown) => unavailable(err, exchange));
    } catch (err) {
      unavailable(err, exchange);
    }
    return true;
  };
}
