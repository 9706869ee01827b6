// Decodes the stored event batches of the SQLite log into events.
import { StoreUnavailable } from "../../connections/errors.ts";
import { DomainError } from "../../runtime/errors.ts";
import { eachEvent } from "../event-columns.ts";
import { type MakerOf, objectMakers } from "../object-makers.ts";
import type { RecordedEvent } from "../port.ts";
import { readArchived } from "./archive/archive-folder.ts";
import { blockReference, isArchived } from "./archive/archived-body.ts";
import { newEventsOfText, textOfBody } from "./batch-body.ts";
import type { PlacedRun } from "./batch-runs.ts";
import type { StoredBatch } from "./batch-schema.ts";
import { type BatchParts, isMerged, type Part, partsOfMerged } from "./merged-body.ts";
import { positionTexts } from "./positions.ts";

/** Of a batch whose body is in the log. */
export function partsOf(batch: StoredBatch): BatchParts {
  if (isMerged(batch.body)) return partsOfMerged(batch.body);
  const { count, stream, recorded_at: recordedAt, last_position, last_revision } = batch;
  const [position, revision] = [last_position - count + 1, last_revision - count + 1];
  return { runs: [{ position, stream, revision, recordedAt, count }], parts: [batch] };
}

/** The parts of consecutive batches as those of one. */
export function joinedParts(batches: readonly StoredBatch[]): BatchParts {
  const all = batches.map(partsOf);
  return { runs: all.flatMap(({ runs }) => runs), parts: all.flatMap(({ parts }) => parts) };
}

/**
 * How far one reader may be behind another: what a busy service appends in most of a second, while documents are written or
 * the next look for seals is awaited.
 */
const MAX_EVENTS = 24_576;

/** `skipUnreadable`: a batch that can't be read has no events; to check a log, never to serve from it. */
export type DecodingOptions = { skipUnreadable?: boolean };

/**
 * Decodes batches, and keeps what was decoded last: the readers of a thread follow the end of the log one after the other,
 * and who pages through it continues inside a batch.
 */
export class DecodedBatches {
  readonly #archive: string;
  readonly #skipUnreadable: boolean;
  readonly #makerOf = objectMakers();
  /**
   * Events of a part, or of an archived block, by the position of the last: merging puts parts side by side, so that
   * another batch has the same part later.
   */
  readonly #kept = new Map<number, RecordedEvent[]>();
  #keptEvents = 0;
  #searched: { key: string; rows: RecordedEvent[] } | undefined;

  /** `archive`: the folder of archive files. */
  constructor(archive: string, { skipUnreadable = false }: DecodingOptions = {}) {
    this.#archive = archive;
    this.#skipUnreadable = skipUnreadable;
  }

  /** @throws ArchiveUnreadable; StoreUnavailable when the batch is damaged */
  eventsOf(batch: StoredBatch): RecordedEvent[] {
    try {
      return this.#decode(batch);
    } catch (cause) {
      if (this.#skipUnreadable) return [];
      if (cause instanceof DomainError) throw cause;
      throw new StoreUnavailable(
        `events.db is damaged: the ${batch.count} events up to position ${batch.last_position} can't be read. ` +
          "Restore it from a backup, `audit verify --full` names what is gone",
        { cause },
      );
    }
  }

  #decode(batch: StoredBatch): RecordedEvent[] {
    const { last_position: last, count, body } = batch;
    const eventsOf = (part: PlacedPart) => eventsOfPart(part, this.#makerOf);
    // Only a whole block, as it has to be read from its file to know its parts.
    if (isArchived(body)) return this.#keeping(last, count, () => joined(this.#partsOf(batch).map(eventsOf)));
    const known = this.#known(last, count);
    if (known) return known;
    const lists = this.#partsOf(batch).map((part) =>
      this.#keeping(lastPositionOf(part), part.count, () => eventsOf(part)),
    );
    return joined(lists);
  }

  /** The events of those parts that have the text; kept of the last batch, as a page may end in it. */
  mentioning(batch: StoredBatch, wanted: Buffer): RecordedEvent[] {
    const key = `${batch.last_position} ${batch.count} ${wanted}`;
    if (this.#searched?.key !== key) {
      const lists = this.#partsOf(batch).map((part) => eventsOfPart(part, this.#makerOf, wanted));
      this.#searched = { key, rows: joined(lists) };
    }
    return this.#searched.rows;
  }

  #partsOf(batch: StoredBatch): PlacedPart[] {
    const { body } = batch;
    return placedParts(isArchived(body) ? readArchived(this.#archive, blockReference(body)) : partsOf(batch));
  }

  #keeping(last: number, count: number, decode: () => RecordedEvent[]): RecordedEvent[] {
    const known = this.#known(last, count);
    if (known) return known;
    const events = decode();
    this.#drop(last);
    this.#kept.set(last, events);
    this.#keptEvents += events.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptEvents <= MAX_EVENTS || this.#kept.size === 1) break;
      this.#drop(oldest);
    }
    return events;
  }

  /** A merge may have compressed the events anew, together with others. */
  #known(last: number, count: number): RecordedEvent[] | undefined {
    const kept = this.#kept.get(last);
    return kept?.length === count ? kept : undefined;
  }

  #drop(last: number): void {
    this.#keptEvents -= this.#kept.get(last)?.length ?? 0;
    this.#kept.delete(last);
  }
}

/** A part with the places of its own events. */
type PlacedPart = Part & { runs: PlacedRun[] };

function placedParts({ runs, parts }: BatchParts): PlacedPart[] {
  let [n, used] = [0, 0];
  return parts.map(({ body, count }) => {
    const own: PlacedRun[] = [];
    for (let left = count; left > 0; ) {
      const run = runs[n] as PlacedRun;
      const taken = Math.min(left, run.count - used);
      own.push({ ...run, position: run.position + used, revision: run.revision + used, count: taken });
      left -= taken;
      used += taken;
      if (used === run.count) [n, used] = [n + 1, 0];
    }
    return { body, count, runs: own };
  });
}

/** Position of the part's last event. */
function lastPositionOf({ runs }: PlacedPart): number {
  const last = runs.at(-1) as PlacedRun;
  return last.position + last.count - 1;
}

/**
 * Events share the objects of repeated values, so these must not be mutated. `makerOf`: as of eachEvent. `wanted`: none
 * when the JSON doesn't have it, at a fifth of the time.
 */
function eventsOfPart({ body, count, runs }: PlacedPart, makerOf: MakerOf, wanted?: Buffer): RecordedEvent[] {
  const json = textOfBody(body);
  if (wanted && !json.includes(wanted)) return [];
  const events: RecordedEvent[] = [];
  const textOf = positionTexts();
  let [run, inRun, n] = [runs[0] as PlacedRun, 0, 0];
  eachEvent(newEventsOfText(json, count, makerOf), makerOf, (id, type, data, metadata) => {
    if (inRun === run.count) [run, inRun] = [runs[++n] as PlacedRun, 0];
    const { stream, recordedAt } = run;
    const [revision, position] = [run.revision + inRun, textOf(run.position + inRun)];
    inRun++;
    events.push({ id, type, data, metadata, stream, revision, position, recordedAt });
  });
  return events;
}

function joined(lists: RecordedEvent[][]): RecordedEvent[] {
  const [first = [], ...others] = lists;
  return others.length === 0 ? first : first.concat(...others);
}
