// Seals the log: reads what is new, and appends a seal for every ten thousand events and whenever it is told to.

import { newEvent } from "../../events/new-event.ts";
import { ALL_CATEGORIES, CATEGORY, SEALS_STREAM } from "../../events/streams.ts";
import { Failure } from "../../runtime/errors.ts";
import { categoryOf } from "../../stores/event-store/categories.ts";
import {
  type EventStore,
  type LogPage,
  type Position,
  RevisionConflict,
  START,
  type StoredText,
} from "../../stores/event-store/port.ts";
import { readSeal, SealJudge, sealFacts } from "./judge-seals.ts";
import { leafHash, lineOf } from "./merkle.ts";
import type { NotedSeal } from "./noted-seal.ts";
import { addPlace, type Runs } from "./places.ts";
import { BLOCK_EVENTS, type KnownSeal, makeSeal, type Seal, sealHash } from "./seal.ts";
import type { SealKeys } from "./seal-keys.ts";

export type SealerDeps = {
  eventStore: Pick<EventStore, "read" | "readStored" | "append">;
  /** The first one signs; seals of all are continued. */
  keys: readonly [SealKeys, ...SealKeys[]];
  noted: NotedSeal;
  clock: () => Date;
  newId: () => string;
};

/** Read at once: other work of the thread waits for some 20 ms. */
export const SEALING_PAGE = 2_000;

/** A block that is not full yet. Of its events only the hash and the place are kept. */
export class Sealer {
  readonly #deps: SealerDeps;
  #last: Seal | undefined;
  #runs: Runs = [];
  #leaves: Buffer[] = [];
  #reached: Position;
  /** Of the last event of the block. */
  #position: Position;
  #clicks = 0;
  #seals = 0;

  private constructor(deps: SealerDeps, last: Seal | undefined) {
    this.#deps = deps;
    this.#last = last;
    this.#position = last?.position ?? "";
    this.#reached = this.#position || START;
  }

  /**
   * Continues after the newest seal of the log. `anyway`: also when it can't be trusted, or is not the one that was made
   * last, by decision of the operator. @throws Failure
   */
  static async open(deps: SealerDeps, { anyway = false } = {}): Promise<Sealer> {
    // Before the seals are read: one that another process appends in between was not removed.
    const noted = await deps.noted.get();
    const [event] = await deps.eventStore.read(SEALS_STREAM, { backwards: true, limit: 1 });
    const last = event && readSeal(event);
    if (event) {
      const judge = new SealJudge(deps.keys.map(({ publicKey }) => publicKey));
      const { reason } = judge.next(sealFacts(event, last));
      if (!last || (reason !== undefined && !anyway)) throw new Failure(`seal ${event.revision} ${reason}`);
    }
    if (anyway) await deps.noted.set(last && knownSeal(last));
    else refuseRemoved(noted, last && knownSeal(last));
    return new Sealer(deps, last);
  }

  /** Up to where the log was looked through. */
  get reached(): Position {
    return this.#reached;
  }

  /** Reads the next events. Returns whether there may be more. @throws as `take` does */
  async read(): Promise<boolean> {
    const part = { after: this.#reached, categories: ALL_CATEGORIES, limit: SEALING_PAGE };
    const page = await this.#deps.eventStore.readStored(part);
    await this.take(page);
    return page.events.length === SEALING_PAGE;
  }

  /**
   * Takes the events that come after those before, and seals each block that is full.
   * @throws RevisionConflict when another process has sealed meanwhile: open again
   */
  async take({ events, next }: LogPage<StoredText>): Promise<void> {
    for (const event of events) {
      this.#position = event.position;
      addPlace(this.#runs, event);
      this.#leaves.push(leafHash(lineOf(event)));
      const category = categoryOf(event.stream);
      if (category === CATEGORY.clicks) this.#clicks += 1;
      if (category === SEALS_STREAM) this.#seals += 1;
      if (this.#leaves.length === BLOCK_EVENTS) await this.seal();
    }
    this.#reached = next;
  }

  /** Whether the newest seal is signed with an earlier key: a seal under the present one is due, also of no events. */
  get hasKeyChanged(): boolean {
    return this.#last !== undefined && this.#last.publicKey !== this.#deps.keys[0].publicKey;
  }

  /** Seals what was read. @throws as `read` does */
  async seal(): Promise<Seal> {
    const { eventStore, keys, clock, newId, noted } = this.#deps;
    const block = { runs: this.#runs, leaves: this.#leaves, position: this.#position };
    const seal = makeSeal(keys[0], this.#last, { ...block, at: clock().toISOString() });
    const id = newId();
    const origin = { correlationId: id, causationId: id, actor: { type: "system", id: "sealing" } } as const;
    const expected = seal.number === 0 ? "none" : seal.number - 1;
    await eventStore.append(SEALS_STREAM, expected, [
      newEvent({ type: "LogSealed", data: seal }, id, origin),
    ]);
    this.#last = seal;
    [this.#runs, this.#leaves, this.#clicks, this.#seals] = [[], [], 0, 0];
    await noted.set(knownSeal(seal));
    return seal;
  }

  /** The newest seal. */
  get last(): Seal | undefined {
    return this.#last;
  }

  /** The events of the block that is not sealed yet, without seals: these wait for what comes after them. */
  get unsealed(): { events: number; clicks: number } {
    return { events: this.#leaves.length - this.#seals, clicks: this.#clicks };
  }
}

/**
 * Seals what is not sealed yet, beside others who seal: what one of them has sealed meanwhile is taken from the log. Returns
 * the newest seal; undefined where nothing was ever sealed. @throws as `open` does
 */
export async function sealAll(
  deps: SealerDeps,
  options: { anyway?: boolean } = {},
): Promise<Seal | undefined> {
  for (;;)
    try {
      const sealer = await Sealer.open(deps, options);
      while (await sealer.read());
      return sealer.unsealed.events > 0 || sealer.hasKeyChanged ? await sealer.seal() : sealer.last;
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
}

export function knownSeal(seal: Seal): KnownSeal {
  return { number: seal.number, hash: sealHash(seal) };
}

function refuseRemoved(noted: KnownSeal | undefined, last: KnownSeal | undefined): void {
  const number = last?.number ?? -1;
  if (!noted || noted.number < number || (noted.number === number && noted.hash === last?.hash)) return;
  throw new Failure(`seal ${noted.number}, the newest that was made, is not in the log`);
}
