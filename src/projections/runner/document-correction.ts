// What a withdrawal of clicks, or its end, makes of the documents of one projection.
import type { ClickEvent } from "../../audit/clicks/clicks-between.ts";
import type { Position } from "../../stores/event-store/port.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Fields, Parts, PartsSpec, Projection } from "../projection.ts";

/** `counted`: before the event; `counts`: after it. */
export type CorrectedClick = { click: ClickEvent; counted: boolean; counts: boolean };

/** As they are to be stored. */
export type FoldedDocuments = { documents: Document[]; parts: Document[] };

/** Takes all clicks of the link in the order of the log, then gives the documents as of the event. */
export type DocumentCorrection = {
  /** @throws what the read store throws */
  add(clicks: readonly CorrectedClick[]): Promise<void>;
  /** Those that the event changes and that don't contain it yet. @throws what the read store throws */
  documents(): Promise<FoldedDocuments>;
  /** What the projection's own code has thrown; the documents are then of no use. */
  failure(): unknown;
};

/**
 * Marks a document all of whose clicks are withdrawn. It stays for its `_position`; the next click begins it anew, as
 * `empty` may depend on the first click.
 */
const EMPTIED = "_emptied";

/** What the next event is folded into; undefined for `empty`. */
export function foldedSoFar(document: Document | undefined): Document | undefined {
  return document && EMPTIED in document ? undefined : document;
}

type Load = (keys: readonly string[]) => Promise<ReadonlyMap<string, Document>>;
/** Of documents and of their parts. */
type Loads = { documents: Load; parts: Load };

/** `position`: of ClicksWithdrawn or ClicksRestored. Undefined for a projection in which every recorded click counts. */
export function documentCorrection(
  projection: Projection,
  load: Loads,
  position: Position,
): DocumentCorrection | undefined {
  if (projection.recounts) return recount(projection, load, position);
  const withdraw = projection.withdraw?.bind(projection);
  return withdraw && adjust(projection, withdraw, load.documents, position);
}

/** Folds the clicks that count from empty, and keeps the documents that have a click whose state changes. */
function recount(projection: Projection, load: Loads, position: Position): DocumentCorrection {
  const folded = new Map<string, Fields<Document>>();
  const changed = new Map<string, Fields<Document>>();
  const recounted = projection.parts && recountParts(projection.parts, load.parts, position);
  const guard = guarded();
  return {
    add: async (clicks) =>
      guard.run(() => {
        for (const { click, counted, counts } of clicks) {
          const key = projection.key(click);
          if (key === undefined) continue;
          if (counts) {
            const fields = folded.get(key) ?? projection.empty(click);
            folded.set(key, projection.evolve(fields, click, recounted?.folded));
          }
          if (counted !== counts && !changed.has(key)) changed.set(key, projection.empty(click));
          recounted?.see(click, counted !== counts);
        }
      }),
    async documents() {
      const held = await load.documents([...changed.keys()]);
      const documents = [...changed]
        .filter(([key]) => isOlder(held.get(key), position))
        .map(([key, empty]) => {
          const fields = folded.get(key) ?? { ...empty, [EMPTIED]: true };
          return Object.assign(fields, { _id: key, _position: position });
        });
      return { documents, parts: (await recounted?.changed(folded, projection.key)) ?? [] };
    },
    failure: guard.failure,
  };
}

/** The parts of documents that are folded again. */
function recountParts(spec: PartsSpec<Document>, load: Load, position: Position) {
  const counted = new Map<string, object>();
  /** By id, a click that it is for, and whether one of them changes its state. */
  const seen = new Map<string, { click: ClickEvent; isChanged: boolean }>();
  const folded: Parts = {
    change: (id, evolve) => void counted.set(id, evolve(counted.get(id) as Parameters<typeof evolve>[0])),
  };
  return {
    folded,
    see(click: ClickEvent, isChanged: boolean): void {
      for (const id of spec.idsOf(click))
        seen.set(id, { click, isChanged: isChanged || seen.get(id)?.isChanged === true });
    },
    /**
     * Those without clicks are emptied: that there were some is what an answer as of an earlier position goes by.
     * `documents`: as they are counted now, by key.
     */
    async changed(documents: ReadonlyMap<string, Fields<Document>>, keyOf: Projection["key"]) {
      const held = await load([...seen.keys()]);
      const found: Document[] = [];
      for (const [id, { click, isChanged }] of seen) {
        const part = held.get(id);
        if (!isOlder(part, position)) continue;
        const [before, after] = [foldedSoFar(part), counted.get(id)];
        const document = documents.get(keyOf(click) ?? "");
        const isWithin = document !== undefined && spec.isWithin(document, click);
        const isKept = after ? before && !isChanged : !before && (isWithin || !isChanged);
        if (isKept) continue;
        const fields = after ?? { ...spec.empty(), [EMPTIED]: true };
        found.push(Object.assign(fields, { _id: id, _position: position }));
      }
      return found;
    },
  };
}

function isOlder(document: Document | undefined, position: Position): boolean {
  return (document?._position ?? "") < position;
}

/** Takes clicks out of the documents as they are, or back in. */
function adjust(
  projection: Projection,
  withdraw: NonNullable<Projection["withdraw"]>,
  load: Load,
  position: Position,
): DocumentCorrection {
  const held = new Map<string, Fields<Document>>();
  const contained = new Set<string>();
  const guard = guarded();
  const loadMissing = async (keys: ReadonlySet<string>) => {
    const missing = [...keys].filter((key) => !held.has(key) && !contained.has(key));
    if (missing.length === 0) return;
    const loaded = await load(missing);
    for (const key of missing) {
      const document = loaded.get(key);
      if (document && document._position < position) held.set(key, document);
      else contained.add(key);
    }
  };
  return {
    async add(clicks) {
      const changes = clicks.filter(({ counted, counts }) => counted !== counts);
      const keyed = guard.run(() => changes.map((one) => ({ ...one, key: projection.key(one.click) }))) ?? [];
      await loadMissing(new Set(keyed.flatMap(({ key }) => key ?? [])));
      guard.run(() => {
        for (const { key = "", click, counts } of keyed) {
          const document = held.get(key);
          if (!document) continue;
          held.set(key, counts ? projection.evolve(document, click) : withdraw(document, click));
        }
      });
    },
    async documents() {
      const corrected = [...held].map(([key, fields]) =>
        Object.assign(fields, { _id: key, _position: position }),
      );
      return { documents: corrected, parts: [] };
    },
    failure: guard.failure,
  };
}

/** Keeps the first failure, and runs nothing after it. */
function guarded() {
  let failed: { error: unknown } | undefined;
  return {
    run<T>(work: () => T): T | undefined {
      if (failed) return undefined;
      try {
        return work();
      } catch (error) {
        failed = { error };
        return undefined;
      }
    },
    failure: () => failed?.error,
  };
}
