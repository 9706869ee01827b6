// Single clicks of an account that fit a question: a page of them, or a whole file. They are those that its numbers count.
import { clickFacts } from "../../events/click-facts.ts";
import { queriedBuild } from "../../projections/builds/builds.ts";
import { readBuilds } from "../../projections/builds/builds-document.ts";
import type { ClickEvent } from "../../projections/fold/clicks-between.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import { type HitDeps, type HitSearch, hitsInLog } from "../../queries/analytics/account/hits-in-log.ts";
import { timeZone, UTC } from "../../queries/analytics/time-zone.ts";
import type {
  ClickPage,
  ClickPlace,
  ClickQuestion,
  TableFormat,
} from "../../queries/log-reader/log-reader.ts";
import { type Position, START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { ACCOUNT_COLUMNS, type ClickRow, cellOf, clickLines } from "./click-lines.ts";

type Deps = HitDeps & { readStore: Pick<ReadStore, "checkpoint" | "get"> };

/** Clicks of all accounts that are read for one page, in which another caller of the thread waits. */
const MOST_SEARCHED = 50_000;

/**
 * In the order of the log, up to `place.upTo`, by default the last click that is counted. A page may be empty and have a next
 * one. @throws EventNewer, what the stores throw
 */
export async function clickPage(
  deps: Deps,
  question: ClickQuestion,
  place: ClickPlace | undefined,
  limit: number,
): Promise<ClickPage> {
  const search = await searchOf(deps, question, place);
  const rows: ClickRow[] = [];
  let [read, last]: [number, Position] = [0, ""];
  const onRead = (position: Position) => {
    read += 1;
    last = position;
  };
  const pageTo = (position: Position | null): ClickPage => ({
    clicks: rows.map((row) =>
      Object.fromEntries(ACCOUNT_COLUMNS.map((column) => [column[0], cellOf(column, row)])),
    ),
    next: position === null ? null : { after: position, upTo: search.upTo },
  });
  for await (const hits of hitsInLog(deps, search, onRead)) {
    for (const { event } of hits) {
      if (rows.length === limit) return pageTo((rows.at(-1) as ClickRow).position);
      rows.push(rowOf(event));
    }
    if (read >= MOST_SEARCHED) return pageTo(rows.length === limit ? (rows.at(-1)?.position ?? last) : last);
  }
  return pageTo(null);
}

/** The parts of a file. @throws EventNewer, what the stores throw */
export async function* clickFile(
  deps: Deps,
  question: ClickQuestion,
  format: TableFormat,
): AsyncGenerator<string | Uint8Array> {
  const search = await searchOf(deps, question, undefined);
  const pages = async function* () {
    for await (const hits of hitsInLog(deps, search)) yield hits.map(({ event }) => rowOf(event));
  };
  if (format === "parquet") {
    // Loaded when it is first needed.
    const { parquetParts } = await import("./parquet-file.ts");
    return yield* parquetParts(ACCOUNT_COLUMNS, pages());
  }
  const { head, line } = clickLines(ACCOUNT_COLUMNS)[format];
  yield head;
  for await (const rows of pages()) yield rows.map(line).join("");
}

async function searchOf(
  { readStore }: Deps,
  { zone, ...question }: ClickQuestion,
  place: ClickPlace | undefined,
): Promise<HitSearch> {
  const build = queriedBuild(clickGroup, await readBuilds(readStore, clickGroup));
  const counted = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
  return {
    ...question,
    from: question.from ?? Number.NEGATIVE_INFINITY,
    to: question.to ?? Number.POSITIVE_INFINITY,
    zone: timeZone(zone) ?? UTC,
    start: place && { after: place.after },
    upTo: place?.upTo ?? counted,
    rules: build?.rules,
  };
}

function rowOf({ data, id, position }: ClickEvent): ClickRow {
  return { ...clickFacts(data), eventId: id, position };
}
