// Seals the log: reads what is new, and appends a seal for every ten thousand events and whenever it is told to.

import { newEvent } from "../../events/new-event.ts";
import { CATEGORY, SEALS_STREAM } from "../../events/streams.ts";
import { Refused } from "../../runtime/refused.ts";
import type { EventStore, Position } from "../../stores/event-store/port.ts";
import { readSeal, SealJudge, sealFacts } from "./judge-seals.ts";
import { type Place, placeOf } from "./places.ts";
import { BLOCK_EVENTS, type LastSeal, leafOf, makeSeal, type Seal, sealHash } from "./seal.ts";
import type { SealKeys } from "./seal-keys.ts";

/** Position of the newest seal, kept outside the log: that it was removed can't be seen in what is left. */
export type NewestSeal = {
  get(): Promise<Position | undefined>;
  set(position: Position): Promise<void>;
  /** For a log that was restored from an older backup. */
  forget(): Promise<void>;
};

export type SealerDeps = {
  eventStore: Pick<EventStore, "read" | "readAll" | "append">;
  /** The first one signs; seals of all are continued. */
  keys: readonly [SealKeys, ...SealKeys[]];
  newest: NewestSeal;
  clock: () => Date;
  newId: () => string;
};

/** Read at once: other work of the thread waits for some 20 ms. */
const PAGE = 2_000;

/** A block that is not full yet. Of its events only the hash and the place are kept. */
export class Sealer {
  readonly #deps: SealerDeps;
  #last: LastSeal | undefined;
  #places: Place[] = [];
  #leaves: Buffer[] = [];

  private constructor(deps: SealerDeps, last: LastSeal | undefined) {
    this.#deps = deps;
    this.#last = last;
  }

  /**
   * Continues after the newest seal. `anyway`: also when it can't be trusted, by decision of the operator.
   * @throws seals_untrusted
   */
  static async open(deps: SealerDeps, { anyway = false } = {}): Promise<Sealer> {
    if (anyway) await deps.newest.forget();
    // Before the seals are read: one that another process appends in between was not removed.
    const newest = await deps.newest.get();
    const [event] = await deps.eventStore.read(SEALS_STREAM, { backwards: true, limit: 1 });
    if (!event) {
      refuseRemoved(newest, "");
      return new Sealer(deps, undefined);
    }
    const { reason } = new SealJudge(deps.keys.map(({ publicKey }) => publicKey)).next(sealFacts(event));
    const seal = readSeal(event);
    if (!seal || (reason !== undefined && !anyway))
      throw new Refused("seals_untrusted", `seal ${event.revision} ${reason}`);
    refuseRemoved(newest, event.position);
    return new Sealer(deps, { seal, hash: sealHash(event) });
  }

  /**
   * Reads the next events, and seals the block when it is full. Returns whether there may be more.
   * @throws RevisionConflict when another process has sealed meanwhile: open again
   */
  async read(): Promise<boolean> {
    const limit = Math.min(PAGE, BLOCK_EVENTS - this.#places.length);
    const after = this.#places.at(-1)?.position ?? this.#last?.seal.position;
    const options = { after: after || undefined, categories: Object.values(CATEGORY), limit };
    const events = await this.#deps.eventStore.readAll(options);
    for (const event of events) {
      this.#places.push(placeOf(event));
      this.#leaves.push(leafOf(event));
    }
    if (this.#places.length === BLOCK_EVENTS) await this.seal();
    return events.length === limit;
  }

  /** Whether the newest seal is signed with an earlier key: a seal under the present one is due, also of no events. */
  get hasKeyChanged(): boolean {
    return this.#last !== undefined && this.#last.seal.publicKey !== this.#deps.keys[0].publicKey;
  }

  /** Seals what was read. @throws as `read` does */
  async seal(): Promise<Seal> {
    const { eventStore, keys, clock, newId, newest } = this.#deps;
    const block = { places: this.#places, leaves: this.#leaves, at: clock().toISOString() };
    const seal = makeSeal(keys[0], this.#last, block);
    const id = newId();
    const origin = { correlationId: id, causationId: id, actor: { type: "system", id: "sealing" } } as const;
    const expected = seal.number === 0 ? "none" : seal.number - 1;
    const event = newEvent({ type: "LogSealed", data: seal }, id, origin);
    const { position } = await eventStore.append(SEALS_STREAM, expected, [event]);
    const [recorded] = await eventStore.read(SEALS_STREAM, { from: seal.number, limit: 1 });
    if (!recorded) throw new Refused("seals_untrusted", `seal ${seal.number} was appended and can't be read`);
    this.#last = { seal, hash: sealHash(recorded) };
    [this.#places, this.#leaves] = [[], []];
    await newest.set(position);
    return seal;
  }

  /** The newest seal. */
  get last(): Seal | undefined {
    return this.#last?.seal;
  }

  /** The events of the block that is not sealed yet. */
  get unsealed(): number {
    return this.#places.length;
  }
}

/** `known`: as kept outside the log. `position`: of the newest seal in the log. */
function refuseRemoved(known: Position | undefined, position: Position): void {
  if (known !== undefined && known > position)
    throw new Refused("seals_untrusted", `the newest seal, at position ${known}, is not in the log any more`);
}
