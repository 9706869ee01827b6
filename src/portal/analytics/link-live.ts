// GET .../live: a link's clicks as server-sent events; a reconnection with Last-Event-ID continues without gap or
// duplicate.
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { type EventStream, liveStreams, sendBatches } from "../../api/streaming/live-streams.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import { CLICK_KINDS, type ClickKind, RECENT_CLICKS } from "../../events/vocabulary.ts";
import { recentClickOf } from "../../projections/definitions/recent-clicks.ts";
import type { LiveBatch, LiveClick } from "../../queries/analytics/live-clicks.ts";
import { QUARTER_MS } from "../../queries/analytics/ranges/time-zone.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { LinkParams } from "../links/link-pages.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { requireSession, type Sessions, signedIn } from "../shell/sessions.ts";
import { Bots, kindsOf } from "./range-bar.ts";
import { recentRow } from "./recent-card.ts";

/** A log position; other values are ignored. */
const Place = z
  .string()
  .regex(/^[\w:.-]{1,100}$/)
  .optional()
  .catch(undefined);
const Query = z.object({ after: Place, bots: Bots });

/** Clicks are batched, so that a busy link sends no more messages than a quiet one. */
const BETWEEN_MESSAGES_MS = 250;

export function linkLiveRoute(app: Api, deps: PortalDeps & { sessions: Sessions }): void {
  const tooMany = "Live updates are open in too many tabs: close one first, or try again later.";
  const streams = liveStreams(app, deps.log, tooMany);
  const schema = { params: LinkParams, querystring: Query };
  app.get("/links/:host/:slug/live", { preHandler: requireSession, schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const { link, position } = await linkHistory(deps, accountId, request.params.host, request.params.slug);
    requireDeveloper(tier, "Live updates");
    const after = Place.parse(request.headers["last-event-id"]) ?? request.query.after ?? position;
    const sent = { position: after };
    const kinds = kindsOf(request.query.bots !== undefined);
    await streams.open(
      reply,
      accountId,
      (browser, stream) => keepAlive(deps.sessions, request, browser, sent, stream),
      (browser, signal) =>
        sendClicks(deps, deps.logReader.followLink(link._id, after, signal), browser, sent, kinds),
    );
  });
}

/** `position`: the log up to here has been sent to the browser. */
type Sent = { position: string };

/**
 * Sends batches until the browser disconnects; when `batches` ends with `tooFar`, sends `reset`, on which live.js
 * reloads the page.
 */
export async function sendClicks(
  { sleep }: Pick<PortalDeps, "sleep">,
  batches: AsyncGenerator<LiveBatch, "tooFar" | undefined>,
  browser: EventStream,
  sent: Sent,
  kinds: readonly ClickKind[],
): Promise<void> {
  const end = await sendBatches(batches, async ({ clicks: all, position }) => {
    sent.position = position;
    const clicks = all.filter(({ kind }) => kinds.includes(kind));
    if (clicks.length > 0) await browser.send({ event: "clicks", id: position, data: summary(clicks) });
    await sleep(BETWEEN_MESSAGES_MS);
  });
  if (end === "tooFar") browser.offer({ event: "reset", id: sent.position, data: {} });
}

/** Signing out or closing the account ends the stream. */
async function keepAlive(
  sessions: Sessions,
  request: FastifyRequest,
  browser: EventStream,
  sent: Sent,
  stream: AbortController,
): Promise<void> {
  const cookie = request.cookies[request.visit.cookies.session];
  // While a store is unavailable the session counts as valid.
  const session = await sessions.find(cookie).catch(() => request.visit.session);
  if (stream.signal.aborted) return;
  // The heartbeat carries the position, so that a reconnection after a quiet time has little to search.
  browser.offer({ event: session ? "alive" : "signed-out", id: sent.position, data: {} });
  if (!session) stream.abort();
}

/**
 * `quarters`: counts by the start of the quarter-hour, of which the hours of all zones are made, in the order of CLICK_KINDS;
 * `recent`: the newest, oldest of them first.
 */
function summary(clicks: readonly LiveClick[]) {
  const quarters: Record<string, number[]> = {};
  for (const { at, kind } of clicks) {
    const start = new Date(Math.floor(Date.parse(at) / QUARTER_MS) * QUARTER_MS).toISOString();
    quarters[start] ??= CLICK_KINDS.map(() => 0);
    const index = CLICK_KINDS.indexOf(kind);
    quarters[start][index] = (quarters[start][index] ?? 0) + 1;
  }
  return { quarters, recent: clicks.slice(-RECENT_CLICKS).map((click) => recentRow(recentClickOf(click))) };
}
