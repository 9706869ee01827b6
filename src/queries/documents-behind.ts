// How far what is queried is behind the log: the one measure of every answer that is made of documents.
import { orNotBuilt } from "../projections/builds/errors.ts";
import type { ProjectionGroup } from "../projections/groups.ts";
import { atMostEvery } from "../runtime/at-most-every.ts";
import { inTime } from "../runtime/pause.ts";
import { msBehind, nextEventFinder } from "../stores/event-store/next-event.ts";
import { type EventStore, START } from "../stores/event-store/port.ts";
import type { ReadStore } from "../stores/read-store/port.ts";

/** Events are in the documents within two seconds, unless there are more than can be folded. */
export const OUTDATED_MS = 5_000;
/** However many ask. */
const MEASURED_EVERY_MS = 2_000;
/** An answer doesn't wait longer for it. */
const LONGEST_MS = 500;

/**
 * Age of the oldest event that they lack, in milliseconds; 0 up to OUTDATED_MS, and where it isn't known, as without a build or
 * while a store is away: then what reads them fails by itself.
 */
export type DocumentsBehind = () => Promise<number>;

type Deps = {
  eventStore: Pick<EventStore, "readAll">;
  /** The mapped store: of the builds that are queried. */
  readStore: Pick<ReadStore, "checkpoint">;
  groups: readonly ProjectionGroup[];
  clock: () => Date;
};

export function documentsBehind({ eventStore, readStore, groups, clock }: Deps): DocumentsBehind {
  const measures = groups.map(({ name, categories }) => {
    const next = nextEventFinder(eventStore, categories);
    return async () => {
      const read = await orNotBuilt(readStore.checkpoint(name).then((checkpoint) => ({ checkpoint })));
      return read ? msBehind(await next(read.checkpoint?.position ?? START), clock()) : 0;
    };
  });
  const measure = async () => {
    const behind = Math.max(...(await Promise.all(measures.map((measure) => measure()))));
    return behind > OUTDATED_MS ? behind : 0;
  };
  const measured = atMostEvery(MEASURED_EVERY_MS, measure);
  return async () =>
    (await inTime(
      LONGEST_MS,
      measured().catch(() => 0),
    )) ?? 0;
}
