// The last hits of a link (interface, part 2: recentClicks): their places from its summaries and from the tables of open days, the
// rest from their events.
import type { LinkClicked } from "../../events/catalogue.ts";
import { referrerOf } from "../../events/click-facts.ts";
import {
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
import { latestHits, MOST_RECENT } from "../../projections/definitions/summaries/link-life.ts";
import { bounded } from "../../projections/definitions/summaries/tally.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import type { TimeSlices } from "../../runtime/threads/time-slices.ts";
import type { EventStore, Position } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { closedDays, closedLinkDay } from "./closed-link-days.ts";
import { noTags } from "./counting/link-tags.ts";
import { clicksAt } from "./counting/list-rows.ts";
import { selectRows } from "./counting/select-rows.ts";
import type { TableReader } from "./counting/table-reader.ts";
import type { OpenLife } from "./open-life.ts";
import { UTC } from "./time-zone.ts";

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

/** [from, to) in milliseconds: of the link's last ten hits by people and last ten by bots, those of this time and these kinds. */
export type RecentWanted = {
  from?: number | undefined;
  to?: number | undefined;
  kinds: readonly ClickKind[];
};

/** Latest first, at most ten. @throws ChunkReplaced, EventNewer, what the stores throw */
export async function recentClicks(
  deps: Deps,
  link: string,
  { accountId, life, open, isCurrent }: OpenLife,
  { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, kinds }: RecentWanted,
  asOf: Position,
  slices: TimeSlices,
): Promise<RecentClick[]> {
  const known = isCurrent
    ? (life?.recent ?? [])
    : await ofClosedDays(
        deps,
        accountId,
        link,
        open.map(({ day }) => day),
      );
  const hits = [...known];
  const filter = {
    ...{ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, zone: UTC, asOf },
    ...{ kinds: ["click", "preview", "qr_scan"] as const, filters: { link: [link] } },
  };
  for (const { heads } of open)
    for await (const table of deps.reader.tables(heads, asOf, slices)) {
      const { chunk } = table;
      const { values, rows: codes } = chunk.columns.judged;
      const kindOf = (row: number) => values[codes[row] as number] as ClickKind;
      const rows = selectRows(table, filter, noTags);
      for (const isBot of [false, true])
        for (const row of latestRows(chunk, rows, (row) => (kindOf(row) === "preview") === isBot)) {
          const at = new Date(chunk.at[row] as number).toISOString();
          hits.push({ at, kind: kindOf(row), position: positionOfRow(chunk, row) });
        }
    }
  const shown = latestHits(hits)
    .filter(({ at, kind }) => {
      const time = Date.parse(at);
      return time >= from && time < to && kinds.includes(kind);
    })
    .slice(0, RECENT_CLICKS);
  return await withEvents(deps, shown, slices);
}

/** The last ten of the wanted ones, latest first; from the end, as most rows are in the order of their times. */
function latestRows(
  { at }: DecodedChunk,
  rows: Uint32Array,
  isWanted: (row: number) => boolean,
): readonly number[] {
  const latest: number[] = [];
  const timeAt = (place: number) => at[latest[place] as number] as number;
  for (let n = rows.length - 1; n >= 0; n--) {
    const row = rows[n] as number;
    const time = at[row] as number;
    if (latest.length === MOST_RECENT && time <= timeAt(MOST_RECENT - 1)) continue;
    if (!isWanted(row)) continue;
    let place = latest.length;
    while (place > 0 && timeAt(place - 1) < time) place -= 1;
    latest.splice(place, 0, row);
    if (latest.length > MOST_RECENT) latest.pop();
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
    const ofLink = await closedLinkDay(readStore, day, link);
    if (ofLink) hits = latestHits([...hits, ...ofLink.recent]);
    if (hits.length === 2 * MOST_RECENT) break;
  }
  return hits;
}

async function withEvents(
  { eventStore, readStore }: Deps,
  hits: readonly HitPlace[],
  slices: TimeSlices,
): Promise<RecentClick[]> {
  const build = queriedBuild(clickGroup, await readBuilds(readStore, clickGroup));
  const positions = hits.map(({ position }) => position).sort();
  const clicks = new Map<Position, RecentClick>();
  for await (const events of clicksAt({ eventStore }, positions, build?.rules, slices))
    for (const { position, data } of events) clicks.set(position, recentClick(data));
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
