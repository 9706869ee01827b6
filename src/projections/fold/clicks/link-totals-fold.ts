// The totals of links: kept for the next commit where they change with most rows, as they likely change again.
import type { ClickKind } from "../../../events/vocabulary.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { countHit, type LinkTotalsDocument, noHits } from "../../definitions/link-totals.ts";
import type { NewRow } from "./table-day.ts";

/** Documents that are read and folded at a time; other work of the thread is done in between. */
const AT_A_TIME = 250;

export class LinkTotalsFold {
  readonly #readStore: Pick<ReadStore, "getMany">;
  readonly #collection: string;
  readonly #mostKept: number;
  #kept = new Map<string, LinkTotalsDocument>();

  constructor(readStore: Pick<ReadStore, "getMany">, collection: string, mostKept: number) {
    this.#readStore = readStore;
    this.#collection = collection;
    this.#mostKept = mostKept;
  }

  /**
   * With the rows counted, which may be of several days; in the order of their ids, so that few pages of an index change.
   * `pause`: called now and then. @throws what the read store throws
   */
  async fold(
    rowsByLink: ReadonlyMap<string, { accountId: string; rows: NewRow[] }>,
    pause: () => Promise<void>,
  ): Promise<LinkTotalsDocument[]> {
    const ids = [...rowsByLink.keys()].sort();
    const changed: LinkTotalsDocument[] = [];
    for (let at = 0; at < ids.length; at += AT_A_TIME) {
      const slice = ids.slice(at, at + AT_A_TIME);
      const missing = slice.filter((id) => !this.#kept.has(id));
      const read =
        missing.length === 0
          ? []
          : await this.#readStore.getMany<LinkTotalsDocument>(this.#collection, missing);
      const stored = new Map(read.map((document) => [document._id, document]));
      for (const id of slice) {
        const { accountId, rows } = rowsByLink.get(id) as { accountId: string; rows: NewRow[] };
        const before = this.#kept.get(id) ??
          stored.get(id) ?? { _id: id, _position: "", ...noHits(accountId) };
        const folded = withRows(before, rows);
        if (folded) changed.push(folded);
      }
      await pause();
    }
    const busiest =
      changed.length <= this.#mostKept
        ? changed
        : changed.toSorted((a, b) => rowsOf(b._id) - rowsOf(a._id)).slice(0, this.#mostKept);
    for (const document of busiest) {
      this.#kept.delete(document._id);
      this.#kept.set(document._id, document);
    }
    for (const id of this.#kept.keys()) {
      if (this.#kept.size <= this.#mostKept) break;
      this.#kept.delete(id);
    }
    return changed;

    function rowsOf(id: string): number {
      return rowsByLink.get(id)?.rows.length ?? 0;
    }
  }

  forget(id: string): void {
    this.#kept.delete(id);
  }
}

/** Counted in place; undefined where it contains them. */
function withRows(totals: LinkTotalsDocument, rows: readonly NewRow[]): LinkTotalsDocument | undefined {
  const contained = totals._position;
  let last = contained;
  for (const { builder, row } of rows) {
    const position = builder.positionOf(row);
    if (position <= contained) continue;
    const at = new Date(builder.atOf(row)).toISOString();
    countHit(totals, { at, kind: builder.textOf("judged", row) as ClickKind });
    // Rows of several days are not in the order of the log.
    if (position > last) last = position;
  }
  if (last === contained) return undefined;
  totals._position = last;
  return totals;
}
