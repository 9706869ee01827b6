// Notes in the streams of links that they are past their end, or that their clicks are used up: histories and webhooks
// tell of it.

import type { CommandDeps } from "../../commands/handle-command.ts";
import { onEachLink } from "../../commands/links/bulk/each-link.ts";
import { reachEnd } from "../../commands/links/link.ts";
import { onLink } from "../../commands/links/link-stream.ts";
import { COARSE_STATUSES } from "../../events/links/link-status.ts";
import { isEventError } from "../../events/read-event.ts";
import { type LinkTotalsDocument, linkTotals } from "../../projections/definitions/link-totals.ts";
import { type LinkDocument, links, NOTED } from "../../projections/definitions/links.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { CLOCK_SKEW_MS } from "../../runtime/moment.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { FindQuery, ReadStore } from "../../stores/read-store/port.ts";

type LinkEndsDeps = CommandDeps & {
  readStore: ReadStore;
  log: Pick<BasicLogger, "warn">;
};

const PAGE = 500;
/** A run that compares links with their clicks is followed by a pause of so many times its duration, for those alone. */
const REST = 20;

/**
 * The documents say where to look; whether a link is at its end, and whether that is noted already, its stream decides: a
 * run that is repeated, or made by two processes, notes nothing twice.
 */
export function linkEnds(deps: LinkEndsDeps): (signal: AbortSignal) => Promise<void> {
  let comparesFrom = 0;
  /** `logged`: links that can't be noted, of each of which there is a line. */
  const noting = { ...deps, logged: new Set<string>() };
  return async (signal) => {
    const now = deps.clock().getTime();
    // Neither disabled, blocked nor deleted.
    const where = { coarseStatus: "conditional" } as const;
    const to = new Date(now + 1).toISOString();
    const sort = { field: "dueEnd", direction: "asc" } as const;
    const over = { where, range: { field: "dueEnd", from: "", to }, sort, limit: PAGE };
    const byClock = async (page: LinkDocument[]) => page.map((link) => ({ link, people: 0 }));
    await noteAll(noting, over, signal, byClock);
    // Whatever else a visitor meets, as that may end before the link does.
    const range = { field: "dueEnd", from: `${NOTED}${new Date(now + CLOCK_SKEW_MS).toISOString()}` };
    for (const coarseStatus of COARSE_STATUSES) {
      const again = { where: { coarseStatus }, range, sort, limit: PAGE };
      await noteAll(noting, again, signal, byClock);
    }
    if (now < comparesFrom) return;
    const limited = { where: { ...where, hasDueLimit: true }, limit: PAGE };
    await noteAll(noting, limited, signal, (page) => usedUp(deps, page));
    const finished = deps.clock().getTime();
    comparesFrom = finished + REST * (finished - now);
  };
}

type NotingDeps = LinkEndsDeps & { logged: Set<string> };
type Ended = { link: LinkDocument; people: number };

async function noteAll(
  deps: NotingDeps,
  query: FindQuery,
  signal: AbortSignal,
  endedOf: (page: LinkDocument[]) => Promise<Ended[]>,
): Promise<void> {
  for await (const page of documentPages<LinkDocument>(deps.readStore, links.collection.name, query)) {
    const ended = await endedOf(page);
    const { failures } = await onEachLink(
      ended,
      async ({ link, people }) => {
        if (signal.aborted) return;
        const context = { requestId: deps.newId(), actor: { type: "system", id: "link-ends" } } as const;
        await onLink(deps, context, link, (state, at) => reachEnd(state, { at, people }));
      },
      // An event that can't be read keeps no other link waiting.
      { failsAlone: isEventError },
    );
    for (const { item, error: err } of failures) {
      const { _id, host, slug } = item.link;
      if (!deps.logged.has(_id)) deps.log.warn({ err, host, slug }, "the end of a link can't be noted");
      deps.logged.add(_id);
    }
    if (signal.aborted) return;
  }
}

/** Those whose clicks and scans, as far as they are counted, are as many as they may have. */
async function usedUp({ readStore }: LinkEndsDeps, page: readonly LinkDocument[]): Promise<Ended[]> {
  const ids = page.map(({ _id }) => _id);
  const counted = await readStore.getMany<LinkTotalsDocument>(linkTotals.name, ids, ["people"]);
  const people = new Map(counted.map((clicks) => [clicks._id, clicks.people]));
  return page
    .map((link) => ({ link, people: people.get(link._id) ?? 0 }))
    .filter(({ link, people: all }) => link.maxClicks !== undefined && all >= link.maxClicks);
}
