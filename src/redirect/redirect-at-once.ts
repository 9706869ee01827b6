// The short way: a cached link's 301 before the framework hears of the request, which would cost as much again.
import type { IncomingMessage, ServerResponse } from "node:http";
import { RESERVED_WORDS } from "../commands/slug.ts";
import { hostResolver } from "./hosts.ts";
import type { LinkEntry } from "./link-entry.ts";
import { answerMoved, hitOf } from "./moved.ts";
import type { RedirectRouteDeps } from "./route.ts";

/** What needs no decoding; the route understands the rest. */
const PLAIN_SLUG = /^[A-Za-z0-9_-]{1,50}$/;

/** True when it has answered; nothing has happened otherwise, and the route sees to the request. */
export function redirectAtOnce(deps: RedirectRouteDeps) {
  const { lookup, recorder, requester, stats, now } = deps;
  const hostOf = hostResolver(deps.baseHost);
  const baseHost = hostOf(deps.baseHost);

  function liveEntry(request: IncomingMessage): LinkEntry | undefined {
    const { method, url = "" } = request;
    if (method !== "GET" && method !== "HEAD") return undefined;
    const question = url.indexOf("?");
    const path = question < 0 ? url : url.slice(0, question);
    const slug = path.slice(1);
    if (!PLAIN_SLUG.test(slug)) return undefined;
    const host = hostOf(requester.host(request));
    if (host === baseHost && RESERVED_WORDS.has(slug)) return undefined;
    const entry = lookup.peek(host, slug);
    return entry?.status === "live" ? entry : undefined;
  }

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const entry = liveEntry(request);
    if (!entry || !recorder.recordAtOnce(hitOf(entry, request, requester, now()))) return false;
    stats.found++;
    answerMoved(entry, response);
    return true;
  };
}
