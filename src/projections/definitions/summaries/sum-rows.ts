// Sums the rows of tables into the day of a link, or into a part of its life.
import { CLICK_KINDS, type ClickKind, RECENT_CLICKS, UTM_FIELDS } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import { type Column, type DecodedChunk, positionOfRow } from "../click-tables/decode-chunk.ts";
import { laterOf } from "../click-tables/positions.ts";
import { ruleHit } from "../rule-hits.ts";
import { DIMENSION_NAMES } from "./breakdown.ts";
import { dayOf, type HitPlace, type KindOfDay, type LinkDayDocument, type QuarterHour } from "./day.ts";
import { COUNTED, type DayRows, type PartRows, partOfPlace, rowOfPlace } from "./day-rows.ts";
import { byTime, type LifePart, latestHits } from "./link-life.ts";
import { type Tally, tallyOf, valueCounts } from "./tally.ts";
import { patternsOf } from "./visitors.ts";

/** Places in COUNTED. */
const TALLIES = DIMENSION_NAMES.length;
const [REGIONS, LANGUAGES, FIRST_UTM] = [TALLIES, TALLIES + 1, TALLIES + 2];
const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
/** Between two pauses: some milliseconds of work. */
const ROWS_AT_A_TIME = 1_000;

/** The rows at these places, of one day. Undefined is a pause, at which the caller may do something else. */
export function* sumLinkDay(
  rows: DayRows,
  link: string,
  places: readonly number[],
): Generator<undefined, LinkDayDocument> {
  const sum = new DaySum();
  for (const [n, place] of places.entries()) {
    sum.add(partOfPlace(rows, place), rowOfPlace(place));
    if (n % ROWS_AT_A_TIME === ROWS_AT_A_TIME - 1) yield;
  }
  return sum.day(link);
}

/** The rows at these places, which are few and none of them withdrawn, of days in their order. */
export function sumLifePart(rows: DayRows, places: readonly number[]): LifePart {
  const kinds: LifePart["kinds"] = {};
  const counts = { click: 0, preview: 0, qr_scan: 0 };
  const hits: HitPlace[] = [];
  let last: Position = "";
  for (const place of places) {
    const { chunk, columns, kinds: kindCodes } = partOfPlace(rows, place);
    const row = rowOfPlace(place);
    const kind = CLICK_KINDS[kindCodes[chunk.columns.judged.rows[row] as number] as number] as ClickKind;
    counts[kind] += 1;
    const ofKind = kinds[kind] ?? { tallies: Array.from({ length: TALLIES }, () => []) };
    kinds[kind] = ofKind;
    for (let n = 0; n < TALLIES; n++) addOne(ofKind.tallies[n] as Tally, textIn(columns[n] as Column, row));
    for (const [n, field] of UTM_FIELDS.entries()) {
      const text = textIn(columns[FIRST_UTM + n] as Column, row);
      if (text !== "") {
        ofKind.utm ??= {};
        ofKind.utm[field] = addOne(ofKind.utm[field] ?? [], text);
      }
    }
    const { rule, destination } = chunk.columns;
    const ruleId = textIn(rule, row);
    if (ruleId !== "") ofKind.rules = addOne(ofKind.rules ?? [], ruleHit(ruleId, textIn(destination, row)));
    const position = positionOfRow(chunk, row);
    if (position > last) last = position;
    hits.push({ at: isoOf(chunk.at[row] as number), kind, position });
  }
  const recent = latestHits(hits);
  const times = hits.map(({ at }) => at).sort();
  const { accountId, day } = partOfPlace(rows, places.at(-1) as number);
  return {
    ...{ accountId, lastDay: day, lastDayPosition: hits.at(-1)?.position ?? "", position: last },
    ...{ ...counts, firstAt: times[0] ?? "", lastAt: times.at(-1) ?? "" },
    ...{ kinds: inTheirOrder(kinds), recent },
  };
}

function inTheirOrder(kinds: LifePart["kinds"]): LifePart["kinds"] {
  const sorted: LifePart["kinds"] = {};
  for (const kind of CLICK_KINDS) {
    const { tallies, utm, rules } = kinds[kind] ?? {};
    if (!tallies) continue;
    const fields = UTM_FIELDS.filter((field) => utm?.[field]);
    sorted[kind] = {
      tallies: tallies.map(ordered),
      ...(utm && { utm: Object.fromEntries(fields.map((field) => [field, ordered(utm[field] ?? [])])) }),
      ...(rules && { rules: ordered(rules) }),
    };
  }
  return sorted;
}

function ordered(tally: Tally): Tally {
  return tally.length <= 2 ? tally : tallyOf(valueCounts(tally));
}

function textIn({ values, rows }: Column, row: number): string {
  return values[rows[row] as number] as string;
}

/** In place, of few values. */
function addOne(tally: Tally, value: string): Tally {
  if (value === "") return tally;
  for (let n = 0; n < tally.length; n += 2)
    if (tally[n] === value) {
      tally[n + 1] = (tally[n + 1] as number) + 1;
      return tally;
    }
  tally.push(value, 1);
  return tally;
}

type Hit = { at: number; kind: number; chunk: DecodedChunk; row: number };

class KindSum {
  readonly counts = COUNTED.map(() => new Map<string, number>());
  readonly rules = new Map<string, number>();
}

/** Of rows of one day, in the order of the log. */
class DaySum {
  readonly #kinds: (KindSum | undefined)[] = [];
  readonly #quarters = new Map<number, QuarterHour>();
  /** The bits of the kinds that each made. */
  readonly #visitors = new Map<string, number>();
  #unknown = 0;
  readonly #latest: Hit[] = [];
  #lastPart: PartRows | undefined;
  #lastRow = 0;
  #changed: Position = "";
  #firstAt = Number.POSITIVE_INFINITY;
  #lastAt = Number.NEGATIVE_INFINITY;

  add(part: PartRows, row: number): void {
    const { chunk, withdrawn, marked, kinds, columns } = part;
    this.#lastPart = part;
    this.#lastRow = row;
    const change = marked.size > 0 ? marked.get(row) : undefined;
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
      const value = textIn(columns[n] as Column, row);
      if (value !== "") countOne(sum.counts[n] as Map<string, number>, value);
    }
    const { rule, destination, visitor } = chunk.columns;
    const ruleId = textIn(rule, row);
    if (ruleId !== "") countOne(sum.rules, ruleHit(ruleId, textIn(destination, row)));
    const code = textIn(visitor, row);
    if (code === "") this.#unknown |= 1 << kind;
    else this.#visitors.set(code, (this.#visitors.get(code) ?? 0) | (1 << kind));
    this.#keepLatest({ at, kind, chunk, row });
  }

  day(link: string): LinkDayDocument {
    const { chunk, accountId, day } = this.#lastPart as PartRows;
    const kinds: LinkDayDocument["kinds"] = {};
    for (const [n, kind] of CLICK_KINDS.entries()) {
      const sum = this.#kinds[n];
      if (sum) kinds[kind] = kindOfDay(sum);
    }
    return {
      _id: dayOf(link, day),
      _position: laterOf(this.#changed, positionOfRow(chunk, this.#lastRow)),
      ...{ accountId, day },
      firstAt: isoOf(this.#firstAt),
      lastAt: isoOf(this.#lastAt),
      quarters: [...this.#quarters.values()].sort(([a], [b]) => a - b),
      visitors: patternsOf(this.#visitors.values(), this.#unknown),
      kinds,
      recent: this.#recent(),
    };
  }

  #recent(): HitPlace[] {
    const hits = this.#latest.map(({ at, kind, chunk, row }) => ({
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
    const latest = this.#latest;
    if (latest.length === RECENT_CLICKS && hit.at < (latest.at(-1) as Hit).at) return;
    let place = 0;
    // Of the same time the later one in the log comes first.
    while (place < latest.length && (latest[place] as Hit).at > hit.at) place += 1;
    latest.splice(place, 0, hit);
    if (latest.length > RECENT_CLICKS) latest.pop();
  }
}

function kindOfDay({ counts, rules }: KindSum): KindOfDay {
  const utm: KindOfDay["utm"] = {};
  for (const [n, field] of UTM_FIELDS.entries()) {
    const count = counts[FIRST_UTM + n];
    if (count && count.size > 0) utm[field] = tallyOf([...count]);
  }
  return {
    tallies: counts.slice(0, TALLIES).map((count) => tallyOf([...count])),
    ...(Object.keys(utm).length > 0 && { utm }),
    ...(rules.size > 0 && { rules: tallyOf([...rules]) }),
    regions: tallyOf([...(counts[REGIONS] ?? [])]),
    languages: tallyOf([...(counts[LANGUAGES] ?? [])]),
  };
}

function countOne(counts: Map<string, number>, value: string): void {
  counts.set(value, (counts.get(value) ?? 0) + 1);
}

/** "" where there is none. */
function isoOf(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString() : "";
}
