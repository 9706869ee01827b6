// Sums the rows of a table into the day of each of its links.
import { CLICK_KINDS, type ClickKind, UTM_FIELDS } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { ColumnName } from "../click-tables/columns.ts";
import { type DecodedChunk, positionOfRow, withdrawnRows } from "../click-tables/decode-chunk.ts";
import { laterOf } from "../click-tables/positions.ts";
import type { ChunkRows } from "../click-tables/table.ts";
import type { Breakdown } from "./breakdown.ts";
import type { HitPlace } from "./day.ts";
import { type DaySummary, dayOf, type KindOfDay, type LinkDayDocument, type QuarterHour } from "./day.ts";
import { byTime, MOST_RECENT } from "./link-life.ts";
import { type Tally, tallyOf } from "./tally.ts";
import { patternsOf } from "./visitors.ts";

/** The columns of DIMENSIONS, in their order, and those of the other tallies. */
const COUNTED = [
  ...(["device", "country", "city", "browser", "os", "referrer", "region", "language"] as const),
  ...UTM_FIELDS.map((field) => `utm_${field}` as const),
] as const;
const TALLIES = 6;
const [REGIONS, LANGUAGES, FIRST_UTM] = [6, 7, 8];
const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
/** Between two pauses: some milliseconds of work. */
const ROWS_AT_A_TIME = 1_000;

type Of = { accountId: string; day: string };

/** The day of each link with a row, in the order of their keys; undefined is a pause, at which the caller may do something else. */
export function* sumLinks(of: Of, table: readonly ChunkRows[]): Generator<LinkDayDocument | undefined> {
  const byLink = new Map<string, number[]>();
  for (const [n, { chunk, from, to }] of table.entries()) {
    const { values, rows } = chunk.columns.link;
    const ofIndex: (number[] | undefined)[] = [];
    for (let row = from; row < to; row++) {
      const index = rows[row] as number;
      let places = ofIndex[index];
      if (!places) {
        const link = values[index] as string;
        places = byLink.get(link) ?? [];
        byLink.set(link, places);
        ofIndex[index] = places;
      }
      // A chunk has at most 50,000 rows.
      places.push(n * PLACES + row);
      if (row % (10 * ROWS_AT_A_TIME) === 0) yield;
    }
  }
  const sources = table.map(({ chunk }) => sourceOf(chunk));
  let rows = 0;
  for (const link of [...byLink.keys()].sort()) {
    const sum = new DaySum();
    for (const place of byLink.get(link) ?? []) {
      sum.add(sources[Math.floor(place / PLACES)] as Source, place % PLACES);
      if (++rows % ROWS_AT_A_TIME === 0) yield;
    }
    yield { ...sum.summary(link, of), recent: sum.recent() };
  }
}
const PLACES = 2 ** 20;

type Source = {
  chunk: DecodedChunk;
  withdrawn: Uint8Array | undefined;
  /** Of each row with marks, the last event of them. */
  marked: ReadonlyMap<number, Position>;
  kinds: Uint8Array;
  columns: DecodedChunk["columns"][ColumnName][];
};

function sourceOf(chunk: DecodedChunk): Source {
  const marked = new Map<number, Position>();
  for (const { from, until, rows } of chunk.marks) {
    const last = laterOf(from, until);
    for (const row of rows) if (last > (marked.get(row) ?? "")) marked.set(row, last);
  }
  return {
    chunk,
    withdrawn: withdrawnRows(chunk),
    marked,
    kinds: Uint8Array.from(chunk.columns.judged.values, (kind) => CLICK_KINDS.indexOf(kind as ClickKind)),
    columns: COUNTED.map((name) => chunk.columns[name]),
  };
}

type Hit = { at: number; kind: number; chunk: DecodedChunk; row: number };
const PREVIEW = CLICK_KINDS.indexOf("preview");

class KindSum {
  readonly counts = COUNTED.map(() => new Map<string, number>());
  readonly rules = new Map<string, number>();
}

/** Of rows in the order of the log. */
class DaySum {
  readonly #kinds: (KindSum | undefined)[] = [];
  readonly #quarters = new Map<number, QuarterHour>();
  /** The bits of the kinds that each made. */
  readonly #visitors = new Map<string, number>();
  /** Those of people and those of bots. */
  readonly #latest: [Hit[], Hit[]] = [[], []];
  #first: Position = "";
  #lastRow: [DecodedChunk, number] | undefined;
  #changed: Position = "";
  #firstAt = Number.POSITIVE_INFINITY;
  #lastAt = Number.NEGATIVE_INFINITY;

  add({ chunk, withdrawn, marked, kinds, columns }: Source, row: number): void {
    if (this.#first === "") this.#first = positionOfRow(chunk, row);
    this.#lastRow = [chunk, row];
    const change = marked.get(row);
    if (change !== undefined && change > this.#changed) this.#changed = change;
    if (withdrawn?.[row]) return;
    const at = chunk.at[row] as number;
    const kind = kinds[chunk.columns.judged.rows[row] as number] as number;
    if (at < this.#firstAt) this.#firstAt = at;
    if (at > this.#lastAt) this.#lastAt = at;
    this.#countQuarter(at, kind);
    this.#kinds[kind] ??= new KindSum();
    const sum = this.#kinds[kind];
    for (let n = 0; n < columns.length; n++) {
      const { values, rows } = columns[n] as Source["columns"][number];
      const value = values[rows[row] as number] as string;
      if (value !== "") countOne(sum.counts[n] as Map<string, number>, value);
    }
    const { rule, destination, visitor } = chunk.columns;
    const ruleId = rule.values[rule.rows[row] as number] as string;
    if (ruleId !== "")
      countOne(sum.rules, `${ruleId} ${destination.values[destination.rows[row] as number] as string}`);
    const code = visitor.values[visitor.rows[row] as number] as string;
    if (code !== "") this.#visitors.set(code, (this.#visitors.get(code) ?? 0) | (1 << kind));
    this.#keepLatest({ at, kind, chunk, row });
  }

  summary(subject: string, { accountId, day }: Of) {
    const [chunk, row] = this.#lastRow as [DecodedChunk, number];
    const last = positionOfRow(chunk, row);
    const kinds: DaySummary["kinds"] = {};
    for (const [n, kind] of CLICK_KINDS.entries()) {
      const sum = this.#kinds[n];
      if (sum) kinds[kind] = kindOfDay(sum);
    }
    return {
      _id: dayOf(subject, day),
      _position: laterOf(this.#changed, last),
      ...{ accountId, day, first: this.#first, last },
      firstAt: isoOf(this.#firstAt),
      lastAt: isoOf(this.#lastAt),
      quarters: [...this.#quarters.values()].sort(([a], [b]) => a - b),
      visitors: patternsOf(this.#visitors.values()),
      kinds,
    };
  }

  /** As of a link's day. */
  recent(): HitPlace[] {
    const hits = this.#latest.flat().map(({ at, kind, chunk, row }) => ({
      at: isoOf(at),
      kind: CLICK_KINDS[kind] as ClickKind,
      position: positionOfRow(chunk, row),
    }));
    return hits.sort(byTime);
  }

  #countQuarter(at: number, kind: number): void {
    const quarter = Math.floor((at % DAY_MS) / QUARTER_MS);
    const hits = this.#quarters.get(quarter) ?? [quarter, 0, 0, 0];
    this.#quarters.set(quarter, hits);
    hits[(kind + 1) as 1 | 2 | 3] += 1;
  }

  #keepLatest(hit: Hit): void {
    const latest = this.#latest[hit.kind === PREVIEW ? 1 : 0] as Hit[];
    if (latest.length === MOST_RECENT && hit.at < (latest.at(-1) as Hit).at) return;
    let place = 0;
    // Of the same time the later one in the log comes first.
    while (place < latest.length && (latest[place] as Hit).at > hit.at) place += 1;
    latest.splice(place, 0, hit);
    if (latest.length > MOST_RECENT) latest.pop();
  }
}

function kindOfDay({ counts, rules }: KindSum): KindOfDay {
  const tallies = counts.map((count) => tallyOf([...count]));
  const utm: Breakdown["utm"] = {};
  for (const [n, field] of UTM_FIELDS.entries()) {
    const tally = tallies[FIRST_UTM + n] as Tally;
    if (tally.length > 0) utm[field] = tally;
  }
  return {
    tallies: tallies.slice(0, TALLIES),
    ...(Object.keys(utm).length > 0 && { utm }),
    ...(rules.size > 0 && { rules: tallyOf([...rules]) }),
    regions: tallies[REGIONS] as Tally,
    languages: tallies[LANGUAGES] as Tally,
  };
}

function countOne(counts: Map<string, number>, value: string): void {
  counts.set(value, (counts.get(value) ?? 0) + 1);
}

/** "" where there is none. */
function isoOf(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString() : "";
}
