// Writes the click tables of a log as they may lie in a read store: chunks cut anywhere, some of them merged, leftovers of merges.
import { readEvent } from "../../../src/events/read-event.ts";
import { CATEGORY } from "../../../src/events/streams.ts";
import { isWithdrawnBy, withdrawalsAfter } from "../../../src/events/withdrawals.ts";
import {
  type ChunkDocument,
  clickTables,
  type Mark,
} from "../../../src/projections/definitions/click-tables/chunk.ts";
import { ChunkBuilder, versionOf } from "../../../src/projections/definitions/click-tables/chunk-builder.ts";
import { decodeChunk } from "../../../src/projections/definitions/click-tables/decode-chunk.ts";
import { laterOf } from "../../../src/projections/definitions/click-tables/positions.ts";
import { rowsOfTable } from "../../../src/projections/definitions/click-tables/table.ts";
import { accountDays } from "../../../src/projections/definitions/summaries/account-day.ts";
import { linkDays } from "../../../src/projections/definitions/summaries/day.ts";
import { partRows, placesByLink } from "../../../src/projections/definitions/summaries/day-rows.ts";
import { linkLife, partOfDay, withPart } from "../../../src/projections/definitions/summaries/link-life.ts";
import { openDayId, openDays } from "../../../src/projections/definitions/summaries/open-days.ts";
import {
  isQuiet,
  quietLinks,
  quietPages,
} from "../../../src/projections/definitions/summaries/quiet-links.ts";
import { sumAccount } from "../../../src/projections/definitions/summaries/sum-account.ts";
import { sumLinkDay } from "../../../src/projections/definitions/summaries/sum-rows.ts";
import { closedDays, linkDayOf } from "../../../src/projections/fold/clicks/stored-days.ts";
import { clicks as clickGroup } from "../../../src/projections/groups.ts";
import type { Position } from "../../../src/stores/event-store/port.ts";
import { loggedEvents } from "../event-store/logged-events.ts";
import { putCheckpoint, putDocuments, type Stores } from "../runtime/stores.ts";

type Placed = { position: Position; data: Parameters<ChunkBuilder["addClick"]>[0] };

/** `pick`: a number below its argument. */
export async function foldTables(
  { eventStore, readStore }: Stores,
  pick: (size: number) => number,
): Promise<void> {
  const clicks: Placed[] = [];
  const marks = new Map<string, { from: Position; until: Position; covers: (click: Placed) => boolean }>();
  const categories = [CATEGORY.clicks, CATEGORY.withdrawals];
  const events = await loggedEvents(eventStore, { categories, limit: 200_000 });
  for (const recorded of events) {
    const event = readEvent(recorded);
    if (event.type === "LinkClicked") clicks.push({ position: event.position, data: event.data });
    if (event.type === "ClicksWithdrawn") {
      const link = `${event.data.host}/${event.data.slug}`;
      const isWithdrawn = isWithdrawnBy(withdrawalsAfter([], event));
      const covers = ({ data, position }: Placed) => data.link === link && isWithdrawn({ ...data, position });
      marks.set(event.data.withdrawalId, { from: event.position, until: "", covers });
    }
    if (event.type === "ClicksRestored") {
      const mark = marks.get(event.data.withdrawalId);
      if (mark && mark.until === "") mark.until = event.position;
    }
  }
  const days = Map.groupBy(clicks, ({ data }) => `${data.accountId}/${data.at.slice(0, 10)}`);
  for (const rows of days.values()) {
    const { accountId, at } = (rows[0] as Placed).data;
    const chunkOf = (part: readonly Placed[]): ChunkDocument => {
      const builder = new ChunkBuilder(accountId, at.slice(0, 10));
      for (const { data, position } of part) builder.addClick(data, position);
      const ofRows = [...marks].flatMap(([withdrawalId, { from, until, covers }]): Mark[] => {
        const covered = part.flatMap((click, row) => (covers(click) ? [row] : []));
        return covered.length > 0 ? [{ withdrawalId, from, until, rows: covered }] : [];
      });
      const document = builder.document();
      return { ...document, marks: ofRows, _position: versionOf(document.last, ofRows) };
    };
    const chunks: ChunkDocument[] = [];
    for (let first = 0; first < rows.length; ) {
      const end = Math.min(rows.length, first + 1 + pick(Math.max(2, Math.ceil(rows.length / 2))));
      // What a crash has left beside a chunk: rows that are contained in it, and in part in the next one.
      if (pick(3) === 0 && end - first > 2)
        chunks.push(chunkOf(rows.slice(first + 1 + pick(end - first - 1), end + pick(3))));
      chunks.push(chunkOf(rows.slice(first, end)));
      first = end;
    }
    await putDocuments(readStore, clickTables.name, chunks);
    if (pick(3) > 0) await close(readStore, chunks);
    else {
      const day = at.slice(0, 10);
      const open = { _id: openDayId(accountId, day), _position: "1", accountId, day, tail: "", appended: 0 };
      await putDocuments(readStore, openDays.name, [open]);
    }
  }
  await putLives(readStore, clicks);
  const last = events.at(-1);
  if (last) await putCheckpoint(readStore, clickGroup.name, { position: last.position, eventId: last.id });
}

async function close(readStore: Stores["readStore"], chunks: readonly ChunkDocument[]): Promise<void> {
  const rows = rowsOfTable(chunks.map(decodeChunk)).map(partRows);
  const quiet = new Map<string, number[]>();
  for (const [link, places] of resultOf(placesByLink(rows)))
    if (isQuiet(rows, places)) quiet.set(link, places);
    else await putDocuments(readStore, linkDays.name, [resultOf(sumLinkDay(rows, link, places))]);
  const account = { ...resultOf(sumAccount(chunks[0] as ChunkDocument, rows)), quietPages: 2 };
  await putDocuments(readStore, quietLinks.name, [...quietPages(account, rows, quiet)]);
  await putDocuments(readStore, accountDays.name, [account]);
}

/** Of the links whose days are closed. */
async function putLives(readStore: Stores["readStore"], clicks: readonly Placed[]): Promise<void> {
  for (const link of new Set(clicks.map(({ data }) => data.link))) {
    const accountId = clicks.find(({ data }) => data.link === link)?.data.accountId ?? "";
    let life: Parameters<typeof withPart>[0];
    let _position = "";
    for await (const day of closedDays(readStore, accountId)) {
      const ofLink = await linkDayOf(readStore, day, link);
      if (!ofLink) continue;
      life = withPart(life, partOfDay(ofLink));
      _position = laterOf(_position, ofLink._position);
    }
    if (life) await putDocuments(readStore, linkLife.name, [{ _id: link, _position, ...life }]);
  }
}

function resultOf<T>(steps: Generator<undefined, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}
