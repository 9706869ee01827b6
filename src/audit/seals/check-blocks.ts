// Compares the log with its seals, block by block, while it is read once.
import type { Position, StoredText } from "../../stores/event-store/port.ts";
import { differences, type Leaf } from "./block-differences.ts";
import { type SealHeader, sealProblem } from "./judge-seals.ts";
import { leafHash, lineOf, rootOf } from "./merkle.ts";
import { type LogProblem, placeOf } from "./places.ts";
import { type SealReader, sealAt } from "./read-seals.ts";

type Deps = { eventStore: SealReader; report: (problem: LogProblem) => void };

export class BlockCheck {
  readonly #deps: Deps;
  /** Oldest first. */
  readonly #seals: SealHeader[];
  /** Of the next seal's block. */
  #leaves: Leaf[] = [];
  /** Numbers of the seals whose blocks are not what was sealed. */
  readonly broken: number[] = [];

  /** `good`: the seals that can be trusted, oldest first. */
  constructor(deps: Deps, good: readonly SealHeader[]) {
    this.#deps = deps;
    this.#seals = [...good];
  }

  /** To be called before an event that lies behind blocks, and with undefined after the last one. */
  async closeBefore(position: Position | undefined): Promise<void> {
    for (let [next] = this.#seals; next && this.isBehind(position); [next] = this.#seals)
      await this.#close(next);
  }

  /** Whether a block ends before the position; undefined: the end of the log. */
  isBehind(position: Position | undefined): boolean {
    const [next] = this.#seals;
    return next !== undefined && (position === undefined || position > next.position);
  }

  /** The next event of the log. Returns whether it lies below a seal that can be trusted. */
  add(event: StoredText): boolean {
    const [next] = this.#seals;
    if (!next || event.position <= next.after) return false;
    this.#leaves.push({ place: placeOf(event), leaf: leafHash(lineOf(event)) });
    return true;
  }

  async #close(seal: SealHeader): Promise<void> {
    this.#seals.shift();
    const present = this.#leaves;
    this.#leaves = [];
    const { events, root, number, position } = seal;
    if (present.length === events && rootOf(present.map(({ leaf }) => leaf)) === root) return;
    this.broken.push(number);
    const kept = await sealAt(this.#deps.eventStore, number);
    const problems = kept ? differences(kept, present) : [];
    const what = `covers ${events} events up to position ${position}, and they are not those that are there`;
    for (const problem of problems.length > 0 ? problems : [sealProblem(number, "", what)])
      this.#deps.report(problem);
  }
}
