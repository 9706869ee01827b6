// Compares the log with its seals, block by block, as both are read from the oldest on.
import type { Position, RecordedEvent } from "../../stores/event-store/port.ts";
import { differences, differencesByTags, type TagKeys } from "./differences.ts";
import type { Judged, SealHeader } from "./judge-seals.ts";
import { type LogProblem, type Place, placeOf } from "./places.ts";
import { chainOf, leafOf, rootOf, type Seal } from "./seal.ts";

type Deps = {
  /** Without any, nothing is said about single events of a seal that is not good. */
  keys: readonly TagKeys[];
  report: (problem: LogProblem) => void;
};

/** A judged seal with all that it keeps. */
export type JudgedBlock = Omit<Judged, "seal"> & { seal: Seal | undefined };

export class BlockCheck {
  readonly #deps: Deps;
  #events: RecordedEvent[] = [];
  /** Up to here all events have been compared, or have lost their seal. */
  #reached: Position = "";
  /** The seal before, if it is good. */
  #before: SealHeader | undefined;
  /** Seals that are not good, until the next good one tells where their blocks end. */
  #pending: Seal[] = [];

  constructor(deps: Deps, before?: SealHeader | undefined) {
    this.#deps = deps;
    this.#before = before;
    this.#reached = before?.position ?? "";
  }

  /** The next events of the log, in order. */
  add(events: readonly RecordedEvent[]): void {
    for (const event of events) this.#events.push(event);
  }

  /** The next seal, in order, once all events up to its position have been added. */
  close({ event, seal, reason }: JudgedBlock): void {
    if (seal && reason !== undefined) this.#pending.push(seal);
    if (!seal || reason !== undefined) return;
    if (seal.after > this.#reached) this.#closeUnsealed(seal);
    this.#pending = [];
    this.#compare(event, seal, this.#take(seal.position));
    this.#before = seal;
  }

  /** After the last seal. Returns the number of events behind it. */
  end(): number {
    for (const seal of this.#pending)
      if (seal.position > this.#reached) this.#compareByTags(seal, this.#take(seal.position));
    return this.#events.length;
  }

  /** Events up to `next.after`, of which no good seal speaks. */
  #closeUnsealed(next: Seal): void {
    const [before, pending] = [this.#before, this.#pending];
    for (const [n, seal] of pending.entries()) {
      const isLast = n === pending.length - 1;
      if (isLast || (seal.position > this.#reached && seal.position < next.after))
        this.#compareByTags(seal, this.#take(isLast ? next.after : seal.position));
    }
    if (pending.length > 0) return;
    const found = this.#take(next.after);
    const sealed = next.total - next.events - (before?.total ?? 0);
    if (sealed === found.length) return;
    const message = `${sealed} events were sealed up to here by seals that were removed, there are ${found.length}`;
    const { stream = "", revision = -1 } = found.at(-1) ?? {};
    this.#deps.report({ stream, revision, position: next.after, message });
  }

  /** All events up to the position. */
  #take(position: Position): RecordedEvent[] {
    const end = this.#events.findIndex((event) => event.position > position);
    this.#reached = position;
    return this.#events.splice(0, end < 0 ? this.#events.length : end);
  }

  #compare(recorded: Place, seal: Seal, events: readonly RecordedEvent[]): void {
    const leaves = events.map(leafOf);
    if (isWhole(seal, leaves, this.#before)) return;
    const { keys, report } = this.#deps;
    const found = differences({ seal, events, leaves, keys });
    for (const difference of found) report(difference);
    if (found.length > 0) return;
    const message = `the ${events.length} events up to position ${seal.position} are not the ${seal.events} of seal ${seal.number}`;
    report({ ...placeOf(recorded), message });
  }

  #compareByTags(seal: Seal, events: readonly RecordedEvent[]): void {
    const { keys, report } = this.#deps;
    const leaves = events.map(leafOf);
    for (const difference of differencesByTags({ seal, events, leaves, keys })) report(difference);
  }
}

function isWhole(seal: Seal, leaves: readonly Buffer[], before: SealHeader | undefined): boolean {
  if (seal.events !== leaves.length || seal.root !== rootOf(leaves)) return false;
  return before?.number !== seal.number - 1 || seal.chain === chainOf(before, leaves);
}
