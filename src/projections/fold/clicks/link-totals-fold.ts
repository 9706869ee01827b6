// The totals of links: kept for the next commit where they change with most rows, as they likely change again.

import { LRUCache } from "lru-cache";
import { documentsById } from "../../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { laterOf } from "../../definitions/click-tables/positions.ts";
import {
  addHits,
  hitsOfRows,
  type LinkTotalsDocument,
  linkTotals,
  noHits,
} from "../../definitions/link-totals.ts";
import { largest } from "../../definitions/summaries/tally.ts";
import type { NewRows } from "./table-day.ts";

/** What a commit adds to a link. */
export type LinkRows = { accountId: string; parts: NewRows[] };

/** Documents that are read and folded at a time; other work of the thread is done in between. */
const AT_A_TIME = 250;

export class LinkTotalsFold {
  readonly #readStore: Pick<ReadStore, "getMany">;
  readonly #mostKept: number;
  readonly #kept: LRUCache<string, LinkTotalsDocument>;

  constructor(readStore: Pick<ReadStore, "getMany">, mostKept: number) {
    this.#readStore = readStore;
    this.#mostKept = mostKept;
    this.#kept = new LRUCache({ max: mostKept });
  }

  /**
   * With the rows counted, which may be of several days; in the order of their ids, so that few pages of an index change.
   * `pause`: called now and then. @throws what the read store throws
   */
  async fold(
    rowsByLink: ReadonlyMap<string, LinkRows>,
    pause: () => Promise<void>,
  ): Promise<LinkTotalsDocument[]> {
    const ids = [...rowsByLink.keys()].sort();
    const changed: LinkTotalsDocument[] = [];
    for (let at = 0; at < ids.length; at += AT_A_TIME) {
      const slice = ids.slice(at, at + AT_A_TIME);
      const missing = slice.filter((id) => !this.#kept.has(id));
      const stored = await documentsById<LinkTotalsDocument>(this.#readStore, linkTotals.name, missing);
      for (const id of slice) {
        const { accountId, parts } = rowsByLink.get(id) as LinkRows;
        const before = this.#kept.get(id) ??
          stored.get(id) ?? { _id: id, _position: "", ...noHits(accountId) };
        const folded = withRows(before, parts);
        if (folded) changed.push(folded);
      }
      await pause();
    }
    const busiest =
      changed.length <= this.#mostKept
        ? changed
        : largest(
            changed.map((document) => ({ document, rows: rowsIn(rowsByLink.get(document._id)) })),
            this.#mostKept,
            (a, b) => b.rows - a.rows,
          ).map(({ document }) => document);
    for (const document of busiest) this.#kept.set(document._id, document);
    return changed;
  }

  forget(id: string): void {
    this.#kept.delete(id);
  }
}

function rowsIn(added: LinkRows | undefined): number {
  return added?.parts.reduce((sum, { rows }) => sum + rows.length, 0) ?? 0;
}

/** Counted in place; undefined where it contains them. */
function withRows(totals: LinkTotalsDocument, parts: readonly NewRows[]): LinkTotalsDocument | undefined {
  const contained = totals._position;
  let last = contained;
  for (const { day, builder, rows } of parts) {
    // After a crash it may contain some.
    const isNew = builder.positionOf(rows[0] as number) > contained;
    const added = isNew ? rows : rows.filter((row) => builder.positionOf(row) > contained);
    if (added.length === 0) continue;
    addHits(totals, hitsOfRows(day, added, builder));
    // Rows of several days are not in the order of the log.
    last = laterOf(last, builder.positionOf(added.at(-1) as number));
  }
  if (last === contained) return undefined;
  totals._position = last;
  return totals;
}
