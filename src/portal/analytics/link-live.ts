// GET .../live: a link's clicks as server-sent events; a reconnection with Last-Event-ID continues without gap or
// duplicate.
import type { OutgoingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { accountStreams, TooManyStreams } from "../../api/streaming/account-streams.ts";
import { type EventStream, eventStream } from "../../api/streaming/event-stream.ts";
import { TierRequired } from "../../commands/errors.ts";
import { CLICK_KINDS, RECENT_CLICKS, TIER_LIMITS } from "../../events/vocabulary.ts";
import { recentClickOf } from "../../projections/definitions/recent-clicks.ts";
import type { LiveBatch, LiveClick } from "../../queries/analytics/live-clicks.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { LinkParams } from "../links/link-pages.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { requireSession, type Sessions, signedIn } from "../shell/sessions.ts";
import { recentRow } from "./recent-card.ts";

/** A log position; other values are ignored. */
const Place = z
  .string()
  .regex(/^[\w:.-]{1,100}$/)
  .optional()
  .catch(undefined);
const Query = z.object({ after: Place });

/** Clicks are batched, so that a busy link sends no more messages than a quiet one. */
const BETWEEN_MESSAGES_MS = 250;
/** Interval of the session check and the heartbeat. */
const ALIVE_EVERY_MS = 5_000;
const RETRY_MS = 2_000;
/** Per account, in one process. */
const MOST_STREAMS = 10;
/** Per process. */
const MOST_STREAMS_IN_ALL = 500;
/** A browser that reads nothing for this long is disconnected; when it reconnects it gets what it missed. */
const STALLED_MS = 15_000;

export function linkLiveRoute(app: Api, deps: PortalDeps & { sessions: Sessions }): void {
  const streams = accountStreams(MOST_STREAMS, MOST_STREAMS_IN_ALL);
  app.addHook("preClose", async () => streams.close());

  const schema = { params: LinkParams, querystring: Query };
  app.get("/links/:host/:slug/live", { preHandler: requireSession, schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const { link, position } = await linkHistory(deps, accountId, request.params.host, request.params.slug);
    if (!TIER_LIMITS[tier].developerFeatures) throw new TierRequired("Live updates");
    const after = Place.parse(request.headers["last-event-id"]) ?? request.query.after ?? position;
    const stream = streams.enter(accountId);
    if (!stream)
      throw new TooManyStreams(
        "Live updates are open in too many tabs: close one first, or try again later.",
      );
    const { raw } = reply.hijack();
    const { signal } = stream;
    const headers = reply.getHeaders() as OutgoingHttpHeaders;
    const browser = eventStream(raw, { headers, stream, retryMs: RETRY_MS, stalledMs: STALLED_MS });
    const watch: Watch = { browser, position: after, signal };
    const timer = endWithSession(deps.sessions, request, watch, () => stream.abort());
    try {
      await sendClicks(deps, deps.logReader.followLink(link._id, after, signal), watch);
    } catch (err) {
      if (!signal.aborted) deps.log.warn({ err }, "a live stream was interrupted; its browser reconnects");
    } finally {
      clearInterval(timer);
      streams.leave(accountId, stream);
      browser.end();
    }
  });
}

/** `position`: the log up to here has been sent to the browser. */
type Watch = { browser: EventStream; position: string; signal: AbortSignal };

/**
 * Sends batches until the browser disconnects; when `batches` ends with `tooFar`, sends `reset`, on which live.js
 * reloads the page.
 */
export async function sendClicks(
  { sleep }: Pick<PortalDeps, "sleep">,
  batches: AsyncGenerator<LiveBatch, "tooFar" | undefined>,
  watch: Watch,
): Promise<void> {
  for (;;) {
    const next = await batches.next();
    if (next.done) {
      if (next.value === "tooFar") watch.browser.offer({ event: "reset", id: watch.position, data: {} });
      return;
    }
    const { clicks, position } = next.value;
    watch.position = position;
    if (clicks.length > 0) await watch.browser.send({ event: "clicks", id: position, data: summary(clicks) });
    await sleep(BETWEEN_MESSAGES_MS);
  }
}

/** Checks the session until the timer is cleared, so that signing out or closing the account ends the stream. */
function endWithSession(
  sessions: Sessions,
  request: FastifyRequest,
  watch: Watch,
  end: () => void,
): NodeJS.Timeout {
  const cookie = request.cookies[request.visit.cookies.session];
  const look = async () => {
    // While a store is unavailable the session counts as valid.
    const session = await sessions.find(cookie).catch(() => request.visit.session);
    if (watch.signal.aborted) return;
    // The heartbeat carries the position, so that a reconnection after a quiet time has little to search.
    watch.browser.offer({ event: session ? "alive" : "signed-out", id: watch.position, data: {} });
    if (!session) end();
  };
  return setInterval(look, ALIVE_EVERY_MS);
}

/** `hours`: counts by UTC hour, in the order of CLICK_KINDS; `recent`: the newest, oldest of them first. */
function summary(clicks: readonly LiveClick[]) {
  const hours: Record<string, number[]> = {};
  for (const { at, kind } of clicks) {
    const hour = at.slice(0, 13);
    hours[hour] ??= CLICK_KINDS.map(() => 0);
    const index = CLICK_KINDS.indexOf(kind);
    hours[hour][index] = (hours[hour][index] ?? 0) + 1;
  }
  return { hours, recent: clicks.slice(-RECENT_CLICKS).map((click) => recentRow(recentClickOf(click))) };
}
