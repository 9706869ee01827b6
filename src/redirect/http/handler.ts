// GET and HEAD /{slug}, and POST for its password: the redirect (interface, part 4). Runs before Fastify, which
// would double the CPU time of one.
import type { IncomingMessage, ServerResponse } from "node:http";
import { RESERVED_WORDS } from "../../commands/links/slug.ts";
import { DomainError } from "../../runtime/errors.ts";
import type { Logger } from "../../runtime/logging.ts";
import { isRefused } from "../../runtime/refused.ts";
import type { RawHit } from "../clicks/hit.ts";
import type { ClickRecorder } from "../clicks/recorder.ts";
import type { EntryOptions, LinkEntry, Target } from "../lookup/link-entry.ts";
import type { LinkLookup } from "../lookup/lookup.ts";
import { type PostedForm, postedForm } from "../password/password-form.ts";
import type { CountryOf } from "../rules/country-of.ts";
import { firstRule, type Visit } from "../rules/first-rule.ts";
import { withQueryOf } from "../rules/forward-query.ts";
import type { VisitOf } from "../rules/visit.ts";
import type { Admit } from "../visits/admission.ts";
import {
  answerBlocked,
  answerMoved,
  answerMovedForNow,
  answerNotFound,
  answerNotNow,
  answerUnavailable,
  type NotNow,
  SEE_OTHER,
} from "./answers.ts";
import { hitOf } from "./hit-of-request.ts";
import { hostResolver } from "./hosts.ts";
import { pathSegment } from "./path-segment.ts";
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

export type RedirectDeps = {
  lookup: Pick<LinkLookup, "peek" | "find">;
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

/**
 * Handles every GET and HEAD of one path segment on any host, except reserved words on the base host, and a POST
 * of those to links with a password. Fast path: a cached link whose click is queued is answered synchronously.
 */
export function redirectHandler(deps: RedirectHandlerDeps): HandleRequest {
  const { lookup, recorder, requester, visitOf, countryOf, admit, stats, now, requestIdOf } = deps;
  const isHttps = deps.baseUrl.startsWith("https:");
  const hostOf = hostResolver(deps.baseHost);
  const baseHost = hostOf(deps.baseHost);
  let lastRefusedAt = Number.NEGATIVE_INFINITY;

  /** `form`: of a POST. */
  function answer(
    host: string,
    slug: string,
    request: IncomingMessage,
    response: ServerResponse,
    form?: PostedForm,
  ) {
    const entry = lookup.peek(host, slug);
    if (entry) return follow(entry, request, response, form);
    return lookup.find(host, slug).then((found) => {
      if (found) return follow(found, request, response, form);
      stats.notFound += 1;
      return answerNotFound(request, response, requestIdOf(request));
    });
  }

  /** What a link without a password is sent goes where it would go without the link. */
  async function answerForm(
    host: string,
    slug: string,
    request: IncomingMessage,
    response: ServerResponse,
    passOn: Handle,
  ): Promise<void> {
    const entry = lookup.peek(host, slug) ?? (await lookup.find(host, slug));
    if (entry?.options?.passwordId === undefined) return passOn(request, response);
    // A body may take half a minute: the link is answered as it is then.
    const form = await postedForm(request);
    await answer(host, slug, request, response, form);
  }

  /**
   * Of a link without options: a promise only if the click has to wait, for its commit or for room in the
   * recorder's queue.
   */
  function follow(
    entry: LinkEntry,
    request: IncomingMessage,
    response: ServerResponse,
    form: PostedForm | undefined,
  ): Promise<void> | undefined {
    if (entry.status !== "live") {
      stats.disabled += 1;
      answerNotFound(request, response, requestIdOf(request));
      return undefined;
    }
    if (entry.options) return followWithOptions(entry, entry.options, request, response, form);
    const send = () => {
      stats[entry.block ? "blocked" : "found"] += 1;
      if (!entry.block) return answerMoved(entry.location, response, form ? SEE_OTHER : undefined);
      answerBlocked(request, response, requestIdOf(request), entry.block.legal ? deps.baseUrl : undefined);
    };
    const wait = recorder.record(hitOf(entry, request, requester, now()));
    if (wait) return wait.then(send);
    send();
    return undefined;
  }

  /** The link's time first, then its limit, password and rules. A visit that is not let in is no click. */
  async function followWithOptions(
    entry: LinkEntry,
    options: EntryOptions,
    request: IncomingMessage,
    response: ServerResponse,
    form: PostedForm | undefined,
  ): Promise<void> {
    const { activeFrom, expiresAt, expiredLocation, rules } = options;
    const code = form ? SEE_OTHER : options.code;
    const hit = hitOf(entry, request, requester, now());
    const requestId = requestIdOf(request);
    const answerInstead = (reason: NotNow) => {
      stats.expired += 1;
      if (expiredLocation !== undefined) return answerMovedForNow(expiredLocation, response, code);
      return answerNotNow(request, response, requestId, reason);
    };
    if (hit.at < activeFrom) return answerInstead("link_not_active");
    if (hit.at >= expiresAt) return answerInstead("link_expired");
    const visit = visitOf(options.key, hit);
    let target: Target = entry;
    const record = async () => {
      target = firstRule(rules, await locatedVisit(options, hit, visit)) ?? entry;
      await recorder.record({ ...hit, link: target.packed });
    };
    const visitor = {
      ...{ request, response, form, requestId, now: hit.at, address: hit.address },
      isSecure: isHttps || entry.host !== baseHost,
      get isPerson() {
        return visit.isPerson;
      },
    };
    const admission = await admit(options, visitor, record);
    if (admission === "exhausted") return answerInstead("link_exhausted");
    if (admission === "answered") {
      stats.asked += 1;
      return undefined;
    }
    stats.found += 1;
    const location = options.forwardQuery ? withQueryOf(hit.query, target.location) : target.location;
    if (options.changes) answerMovedForNow(location, response, code);
    else answerMoved(location, response, code);
  }

  /** With the country of its address, where a rule asks for it and no proxy has named one. */
  async function locatedVisit({ key, asksCountry }: EntryOptions, hit: RawHit, visit: Visit): Promise<Visit> {
    if (!asksCountry || hit.country !== "") return visit;
    return visitOf(key, { ...hit, country: await countryOf(hit.address) });
  }

  /** Answers 503 with Retry-After; the cause goes to the log only. */
  function unavailable(err: unknown, request: IncomingMessage, response: ServerResponse): void {
    stats.error += 1;
    const requestId = requestIdOf(request);
    if (!(err instanceof DomainError))
      deps.log.error({ err, request_id: requestId }, "a short link could not be followed");
    else if (!isRefused(err, "too_busy")) noteOutage(err);
    if (response.headersSent) return void response.destroy();
    const code = isRefused(err, "recorder_busy", "too_busy") ? err.code : "store_unavailable";
    answerUnavailable(request, response, requestId, code);
  }

  /** One line an outage, without a stack: as many are refused as come. */
  function noteOutage({ code, message }: DomainError): void {
    if (now() - lastRefusedAt > OUTAGE_OVER_MS)
      deps.log.error({ code, reason: message }, "short links are answered 503");
    lastRefusedAt = now();
  }

  return (request, response, passOn) => {
    if (!METHODS.has(request.method)) return false;
    const slug = pathSegment(request.url ?? "");
    if (slug === undefined) return false;
    const host = hostOf(requester.host(request));
    if (host === baseHost && RESERVED_WORDS.has(slug)) return false;
    try {
      const answering =
        request.method === "POST"
          ? answerForm(host, slug, request, response, passOn)
          : answer(host, slug, request, response);
      answering?.catch((err: unknown) => unavailable(err, request, response));
    } catch (err) {
      unavailable(err, request, response);
    }
    return true;
  };
}
