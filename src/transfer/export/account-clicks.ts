// Single clicks of an account that fit a question: a page of them, or a whole file. They are those that its numbers count.
import { clickFacts } from "../../events/click-facts.ts";
import { queriedBuild } from "../../projections/builds/builds.ts";
import { readBuilds } from "../../projections/builds/builds-document.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import {
  type ClickEvent,
  clicksAt,
  positionsOfRows,
  type RowSearch,
} from "../../queries/analytics/counting/list-rows.ts";
import { type TableReader, withPresentChunks } from "../../queries/analytics/counting/table-reader.ts";
import type { ClickListQuestion } from "../../queries/analytics/question.ts";
import { timeZone, UTC } from "../../queries/analytics/time-zone.ts";
import type { ClickFileForm, ClickPage, ClickPlace } from "../../queries/log-reader/log-reader.ts";
import { type SliceWork, timeSlices } from "../../runtime/threads/time-slices.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { ACCOUNT_COLUMNS, type ClickRow, cellOf, clickLines, LINK_COLUMNS } from "./click-lines.ts";

type Deps = {
  eventStore: Pick<EventStore, "readAll">;
  readStore: Pick<ReadStore, "checkpoint" | "get" | "getMany">;
  reader: TableReader;
  slices?: SliceWork;
};

/** In the order of the log, up to `place.upTo`, by default the last click that is counted. @throws EventNewer, what the stores throw */
export async function clickPage(
  deps: Deps,
  question: ClickListQuestion,
  place: ClickPlace | undefined,
  limit: number,
  signal?: AbortSignal,
): Promise<ClickPage> {
  const slices = (deps.slices ?? timeSlices)(signal);
  const { search, rules } = await searchOf(deps, question, place);
  const positions = await withPresentChunks(async () => {
    const first: Position[] = [];
    for await (const batch of positionsOfRows(deps, search, slices)) {
      first.push(...batch);
      if (first.length > limit) break;
    }
    return first;
  });
  const shown = positions.slice(0, limit);
  const clicks = (await Array.fromAsync(clicksAt(deps, shown, rules, slices))).flat().map(rowOf);
  const last = shown.at(-1);
  return {
    clicks: clicks.map((row) =>
      Object.fromEntries(ACCOUNT_COLUMNS.map((column) => [column[0], cellOf(column, row)])),
    ),
    next: last !== undefined && positions.length > limit ? { after: last, upTo: search.asOf } : null,
  };
}

/** The parts of a file. @throws EventNewer, what the stores throw */
export async function* clickFile(
  deps: Deps,
  question: ClickListQuestion,
  { format, columns: wanted }: ClickFileForm,
  signal?: AbortSignal,
): AsyncGenerator<string | Uint8Array> {
  const columns = wanted === "of link" ? LINK_COLUMNS : ACCOUNT_COLUMNS;
  const pages = () => clickRows(deps, question, signal);
  if (format === "parquet") {
    // Loaded when it is first needed.
    const { parquetParts } = await import("./parquet-file.ts");
    return yield* parquetParts(columns, pages());
  }
  const { head, line } = clickLines(columns)[format];
  if (head !== "") yield head;
  for await (const rows of pages()) yield rows.map(line).join("");
}

/** Where chunks are merged meanwhile, it goes on behind the last row. */
async function* clickRows(
  deps: Deps,
  question: ClickListQuestion,
  signal: AbortSignal | undefined,
): AsyncGenerator<ClickRow[]> {
  const slices = (deps.slices ?? timeSlices)(signal);
  const { search, rules } = await searchOf(deps, question, undefined);
  let after: Position = START;
  let rows: ReturnType<typeof positionsOfRows> | undefined;
  const nextBatch = async () => {
    rows ??= positionsOfRows(deps, { ...search, after }, slices);
    try {
      return (await rows.next()).value as Position[] | undefined;
    } catch (error) {
      rows = undefined;
      throw error;
    }
  };
  for (;;) {
    const batch = await withPresentChunks(nextBatch);
    if (!batch) return;
    for await (const clicks of clicksAt(deps, batch, rules, slices)) yield clicks.map(rowOf);
    after = batch.at(-1) as Position;
  }
}

async function searchOf(
  { readStore }: Pick<Deps, "readStore">,
  { zone, from, to, ...question }: ClickListQuestion,
  place: ClickPlace | undefined,
): Promise<{ search: RowSearch; rules: string | undefined }> {
  const build = queriedBuild(clickGroup, await readBuilds(readStore, clickGroup));
  const counted = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
  const search = {
    ...question,
    from: from ?? Number.NEGATIVE_INFINITY,
    to: to ?? Number.POSITIVE_INFINITY,
    zone: timeZone(zone) ?? UTC,
    after: place?.after ?? START,
    asOf: place?.upTo ?? counted,
  };
  return { search, rules: build?.rules };
}

function rowOf({ data, id, position }: ClickEvent): ClickRow {
  return { ...clickFacts(data), eventId: id, position };
}
