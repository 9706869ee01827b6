// The last hits of a link's life (interface, part 2: recentClicks), their places from its summaries and from the tables of open days;
// and the last that fit any question, from its tables. What else is shown of them is read from their events.
import type { LinkClicked } from "../../events/catalogue.ts";
import { referrerOf } from "../../events/click-facts.ts";
import {
  CLICK_KINDS,
  type ClickKind,
  type DeviceType,
  RECENT_CLICKS,
  UNKNOWN,
  UTM_FIELDS,
  type UtmField,
} from "../../events/vocabulary.ts";
import { queriedBuild } from "../../projections/builds/builds.ts";
import { readBuilds } from "../../projections/builds/builds-document.ts";
import { type DecodedChunk, positionOfRow } from "../../projections/definitions/click-tables/decode-chunk.ts";
import type { HitPlace } from "../../projections/definitions/summaries/day.ts";
import { byTime, latestHits } from "../../projections/definitions/summaries/link-life.ts";
import { bounded } from "../../projections/definitions/summaries/tally.ts";
import { closedDays, linkDayOf } from "../../projections/fold/clicks/stored-days.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import type { TimeSlices } from "../../runtime/threads/time-slices.ts";
import type { EventStore, Position } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { MOST_READ } from "./counting/count-days.ts";
import { linkTags, noTags } from "./counting/link-tags.ts";
import { clicksAt } from "./counting/list-rows.ts";
import { type RowFilter, selectRows } from "./counting/select-rows.ts";
import { rowsIn, type TableReader } from "./counting/table-reader.ts";
import type { OpenLife } from "./open-life.ts";
import { dateOf, UTC } from "./time-zone.ts";

/** One hit as analytics shows it; `ip` is anonymised. */
export type RecentClick = {
  at: string;
  type: ClickKind;
  device: DeviceType;
  browser: string;
  browser_version: string;
  os: string;
  user_agent: string;
  country: string;
  city: string;
  ip: string;
  referrer: string;
  utm: { [F in UtmField]?: string };
};

type Deps = {
  readStore: Pick<ReadStore, "checkpoint" | "find" | "get" | "getMany">;
  eventStore: Pick<EventStore, "readAll">;
  reader: TableReader;
};

/** `link`: its key. */
export type LatestClick = RecentClick & { link: string };

/** Latest first, of those that fit the question. @throws ChunkReplaced, EventNewer, what the stores throw */
export async function latestClicks(
  deps: Deps,
  { accountId, ...filter }: RowFilter & { accountId: string },
  limit: number,
  slices: TimeSlices,
): Promise<LatestClick[]> {
  const [first, last] = [filter.from, filter.to].map(dateOf);
  const tags = linkTags(deps.readStore);
  const hits: HitPlace[] = [];
  let read = 0;
  // A UTC day's hits are later than those of the days before.
  for (const day of (await deps.reader.days(accountId, first, last)).toReversed()) {
    if (hits.length >= limit || read > MOST_READ) break;
    read += rowsIn(day);
    for await (const table of deps.reader.tables(day.heads, filter.asOf, slices)) {
      const tagsOf = filter.filters.tag ? await tags.ofLinksIn([table], slices) : noTags;
      const rows = selectRows(table, filter, tagsOf);
      hits.push(...latestRows(table.chunk, rows, limit).map((row) => placeOfHit(table.chunk, row)));
    }
  }
  return await withEvents(deps, hits.sort(byTime).slice(0, limit), slices);
}

function placeOfHit(chunk: DecodedChunk, row: number): HitPlace {
  const { values, rows } = chunk.columns.judged;
  const kind = values[rows[row] as number] as ClickKind;
  return { at: new Date(chunk.at[row] as number).toISOString(), kind, position: positionOfRow(chunk, row) };
}

/** Latest first, at most ten. @throws ChunkReplaced, EventNewer, what the stores throw */
export async function recentClicks(
  deps: Deps,
  link: string,
  { accountId, life, open, isCurrent }: OpenLife,
  asOf: Position,
  slices: TimeSlices,
): Promise<RecentClick[]> {
  const openDays = open.map(({ day }) => day);
  const hits = isCurrent ? [...(life?.recent ?? [])] : await ofClosedDays(deps, accountId, link, openDays);
  const filter = {
    ...{ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, zone: UTC, asOf },
    ...{ kinds: CLICK_KINDS, filters: { link: [link] } },
  };
  for (const { heads } of open)
    for await (const table of deps.reader.tables(heads, asOf, slices)) {
      const { chunk } = table;
      const rows = selectRows(table, filter, noTags);
      hits.push(...latestRows(chunk, rows, RECENT_CLICKS).map((row) => placeOfHit(chunk, row)));
    }
  return (await withEvents(deps, latestHits(hits), slices)).map(({ link: _, ...hit }) => hit);
}

/** Latest first; from the end, as most rows are in the order of their times. */
function latestRows({ at }: DecodedChunk, rows: Uint32Array, most: number): readonly number[] {
  const latest: number[] = [];
  const timeAt = (place: number) => at[latest[place] as number] as number;
  for (let n = rows.length - 1; n >= 0; n--) {
    const row = rows[n] as number;
    const time = at[row] as number;
    if (latest.length === most && time <= timeAt(most - 1)) continue;
    let place = latest.length;
    while (place > 0 && timeAt(place - 1) < time) place -= 1;
    latest.splice(place, 0, row);
    if (latest.length > most) latest.pop();
  }
  return latest;
}

/** Of the days that are not open, from the last one back. */
async function ofClosedDays(
  { readStore }: Deps,
  accountId: string,
  link: string,
  open: readonly string[],
): Promise<HitPlace[]> {
  let hits: HitPlace[] = [];
  for await (const day of closedDays(readStore, accountId, "desc")) {
    if (open.includes(day.day)) continue;
    const ofLink = await linkDayOf(readStore, day, link);
    if (ofLink) hits = latestHits([...hits, ...ofLink.recent]);
    if (hits.length === RECENT_CLICKS) break;
  }
  return hits;
}

async function withEvents(
  { eventStore, readStore }: Deps,
  hits: readonly HitPlace[],
  slices: TimeSlices,
): Promise<LatestClick[]> {
  const build = queriedBuild(clickGroup, await readBuilds(readStore, clickGroup));
  const positions = hits.map(({ position }) => position).sort();
  const clicks = new Map<Position, LatestClick>();
  for await (const events of clicksAt({ eventStore }, positions, build?.rules, slices))
    for (const { position, data } of events) clicks.set(position, { link: data.link, ...recentClick(data) });
  return hits.flatMap(({ position }) => clicks.get(position) ?? []);
}

function recentClick(click: LinkClicked["data"]): RecentClick {
  const { at, kind, device, browser, os, userAgent = "", country = UNKNOWN, city = UNKNOWN, ip = "" } = click;
  const { name = UNKNOWN, version = "" } = browser ?? {};
  const utm: RecentClick["utm"] = {};
  for (const field of UTM_FIELDS) {
    const value = click.utm?.[field];
    if (value) utm[field] = bounded(value);
  }
  return {
    at,
    type: kind,
    device,
    browser: name,
    browser_version: version,
    os: os?.name ?? UNKNOWN,
    user_agent: userAgent,
    country,
    city,
    ip,
    referrer: referrerOf(click),
    utm,
  };
}
