// Reads the day documents of a link with the log position as of which they hold its clicks.
import type { Position } from "../../../event-store/port.ts";
import { queriedBuild } from "../../../projections/builds/build.ts";
import { readBuilds } from "../../../projections/builds/builds-document.ts";
import { ProjectionNotBuilt } from "../../../projections/builds/errors.ts";
import { type LinkDayDocument, linkDays } from "../../../projections/definitions/days/link-days.ts";
import { checkpointName, type Projection } from "../../../projections/projection.ts";
import type { ReadStore } from "../../../read-store/port.ts";

export type ReadDaysDeps = {
  readStore: Pick<ReadStore, "checkpoint" | "find" | "get">;
  sleep: (ms: number) => Promise<void>;
};

/**
 * All clicks up to `position` are in the days; those with a higher `_position` contain later ones, too. `rules`: those under
 * which their clicks were classified again; undefined: as recorded.
 */
export type ReadDays = { days: LinkDayDocument[]; position: Position; rules: string | undefined };

/** The version of link-days. */
const BREAKDOWNS_SINCE = 3;
const PAGE = 100;
const TRIES = 10;
const BETWEEN_TRIES_MS = 5;
const RETRY_AFTER_S = 5;

/**
 * In order; `from`, `to`: YYYY-MM-DD, inclusive, undefined for the first and the last. Retries for about 50 ms while a
 * commit is in flight, after which no day has later clicks than `position`.
 * @throws ProjectionNotBuilt while queries read days of a version without breakdowns
 */
export async function readLinkDays(
  deps: ReadDaysDeps,
  link: string,
  range: { from: string | undefined; to: string | undefined },
): Promise<ReadDays> {
  const positionNow = async () => (await deps.readStore.checkpoint(checkpointName(linkDays)))?.position ?? "";
  const build = queriedBuild(linkDays as unknown as Projection, await readBuilds(deps.readStore));
  for (let attempt = 1; ; attempt += 1) {
    const position = await positionNow();
    const days = await readAllDays(deps, link, range);
    // A link without clicks in the range has no document that would tell; the list of builds may be half a second old.
    const isOlder = build !== undefined && build.version < BREAKDOWNS_SINCE;
    if (isOlder || days.some(({ kinds }) => kinds === undefined))
      throw new ProjectionNotBuilt(
        "What ranges are answered from (link-days 3) is being made",
        RETRY_AFTER_S,
      );
    const isConsistent = days.every(({ _position }) => _position <= position);
    if (isConsistent || attempt === TRIES) return { days, position, rules: build?.rules };
    await deps.sleep(BETWEEN_TRIES_MS);
  }
}

/** In pages, so that reading many days doesn't block the thread. */
async function readAllDays(
  { readStore }: ReadDaysDeps,
  link: string,
  { from = "0000-01-01", to = "9999-12-31" }: { from: string | undefined; to: string | undefined },
): Promise<LinkDayDocument[]> {
  const all: LinkDayDocument[] = [];
  const bounds = { field: "_id", from: `${link}@${from}`, to: `${link}@${to}~` };
  for (let after: { value: string; id: string } | undefined; ; ) {
    const page = await readStore.find<LinkDayDocument>(linkDays.collection.name, {
      range: bounds,
      limit: PAGE,
      ...(after && { after }),
    });
    for (const day of page) all.push(day);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return all;
    after = { value: last._id, id: last._id };
  }
}
