// GET /portal/live: says to an open page, by server-sent events, that clicks of its account have been counted or withdrawn, upon which
// it gets its numbers again (live.js).
import { type LiveStreams, liveStreams } from "../../api/events/streams.ts";
import type { Api } from "../../api/fastify.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import { hasDeveloperFeatures, type Tier } from "../../events/vocabulary.ts";
import { ProjectionNotBuilt } from "../../projections/builds/errors.ts";
import { whenCounted } from "../../queries/analytics/when-counted.ts";
import { pause } from "../../runtime/pause.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { signedIn } from "../shell/sessions.ts";

const CHANGES_NUMBERS = ["LinkClicked", "ClicksWithdrawn", "ClicksRestored"] as const;
/** Between two messages, so that many clicks cost few. */
const BETWEEN_MS = 250;

/** Of many clicks, or a large withdrawal. While a store is unavailable pages ask again by themselves. */
const isNotCounted = (error: unknown) => error instanceof ProjectionNotBuilt;

/**
 * `findSession`: again while the stream is open, as it may have ended, or its person may have been removed; at once where
 * `onMembersChanged` says that somebody was.
 */
export function liveNumbers(
  app: Api,
  deps: PortalDeps & {
    findSession: (
      sent: Record<string, string | undefined>,
      accountId: string,
    ) => Promise<{ tier: Tier; accountId: string } | undefined>;
    onMembersChanged: (listener: (accountId: string) => void) => void;
  },
): void {
  const streams: LiveStreams = liveStreams(app, { ...deps, kind: "pages" });
  deps.onMembersChanged(streams.check);
  const counted = whenCounted({ ...deps, sleep: pause });
  app.get("/live", { exposeHeadRoute: false }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    requireDeveloper(tier, "Live numbers");
    const after = await deps.eventStore.head();
    const alive = { event: "alive", id: "", data: {} };
    await streams.open(
      reply,
      accountId,
      async (client, stream) => {
        // While a store is unavailable the session counts as valid.
        const session = await deps.findSession(request.cookies, accountId).catch(() => ({ tier, accountId }));
        if (stream.signal.aborted) return;
        const isIn = session?.accountId === accountId;
        if (isIn && hasDeveloperFeatures(session.tier)) client.offer(alive);
        else stream.abort();
      },
      async (client, signal) => {
        client.offer(alive);
        for await (const { events } of deps.logReader.followAccount(
          accountId,
          after,
          CHANGES_NUMBERS,
          "recorded",
          signal,
        )) {
          const last = events.at(-1);
          if (!last) continue;
          // Who asks before they are counted is told again once they are.
          for (let isLate = true; isLate && !signal.aborted; ) {
            isLate = await counted(last.position).then(() => false, isNotCounted);
            await client.send({ event: "changed", id: "", data: {} });
            await pause(BETWEEN_MS, signal);
          }
        }
      },
    );
  });
}
