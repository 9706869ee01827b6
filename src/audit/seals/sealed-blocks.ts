// Feeds the log and the stream of seals to the check of blocks, while both are read once.
import type { Position, RecordedEvent } from "../../stores/event-store/port.ts";
import { BlockCheck, type JudgedBlock } from "./check-blocks.ts";
import { readSeal, type SealHeader } from "./judge-seals.ts";
import { type SealReader, sealsForwards } from "./read-seals.ts";

type Deps = ConstructorParameters<typeof BlockCheck>[0] & {
  eventStore: SealReader;
  /** Why seals are not good, by revision; seals that are not in it were appended meanwhile. */
  reasons: ReadonlyMap<number, string | undefined>;
};

export class SealedBlocks {
  readonly #deps: Deps;
  readonly #check: BlockCheck;
  readonly #seals: AsyncGenerator<RecordedEvent>;
  #next: JudgedBlock | undefined;
  /** Once no seal is left that could cover further events, these are counted only: they may be millions. */
  #isAtEnd = false;
  #behind = 0;

  /** `before`: the seal behind which the events begin; none for the beginning of the log. */
  constructor(deps: Deps, before?: SealHeader | undefined) {
    this.#deps = deps;
    this.#check = new BlockCheck(deps, before);
    this.#seals = sealsForwards(deps.eventStore, before && before.number + 1);
  }

  /** The next events of the log, in order. */
  async add(events: readonly RecordedEvent[]): Promise<void> {
    if (this.#isAtEnd) {
      this.#behind += events.length;
      return;
    }
    this.#check.add(events);
    await this.#closeUpTo(events.at(-1)?.position ?? "");
  }

  /** After the last event. Returns the number of events behind the last seal. */
  async end(): Promise<number> {
    await this.#closeUpTo(undefined);
    return this.#check.end() + this.#behind;
  }

  /** Closes the blocks of all seals up to the position; of all that are left when it is undefined. */
  async #closeUpTo(position: Position | undefined): Promise<void> {
    for (;;) {
      this.#next ??= await this.#read();
      if (!this.#next) return;
      const reaches = this.#next.seal?.position ?? "";
      if (position !== undefined && reaches > position) return;
      this.#check.close(this.#next);
      this.#next = undefined;
    }
  }

  async #read(): Promise<JudgedBlock | undefined> {
    const { value: event, done } = await this.#seals.next();
    this.#isAtEnd = done === true || !this.#deps.reasons.has(event.revision);
    if (this.#isAtEnd) return undefined;
    return { event, seal: readSeal(event), reason: this.#deps.reasons.get(event.revision) };
  }
}
