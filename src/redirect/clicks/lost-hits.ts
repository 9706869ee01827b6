// Counts hits that could neither be stored nor kept, and has the log say so as soon as it takes appends.
import { keepTrying } from "../../runtime/keep-trying.ts";
import { inTime, systemClock } from "../../runtime/pause.ts";

/** `number`: of the gaps of this process, from 0. `from`, `until`: of the first and the last hit, milliseconds since 1970. */
export type ClickGap = { id: string; number: number; from: number; until: number; hits: number };

/** `hits`: since the process started. `untold`: of these, those that are in no event of the log yet. */
export type LossStatus = { hits: number; untold: number };

export type LostHitsDeps = {
  append: (gap: ClickGap) => Promise<void>;
  newId: () => string;
  /** [0,1) for jitter. */
  random: () => number;
};

const RETRY = { fromMs: 50, toMs: 1_000 };
const LAST_APPEND_MS = 1_000;

export class LostHits {
  readonly #deps: LostHitsDeps;
  readonly #stopping = new AbortController();
  #gaps = 0;
  #hits = 0;
  #told = 0;
  /** To which the next hit is added. */
  #gap: ClickGap | undefined;
  #telling: Promise<void> | undefined;

  constructor(deps: LostHitsDeps) {
    this.#deps = deps;
  }

  /** `at`: milliseconds since 1970. */
  add(at: number): void {
    this.#gap ??= { id: this.#deps.newId(), number: this.#gaps++, from: at, until: at, hits: 0 };
    this.#gap.from = Math.min(this.#gap.from, at);
    this.#gap.until = Math.max(this.#gap.until, at);
    this.#gap.hits++;
    this.#hits++;
  }

  status(): LossStatus {
    return { hits: this.#hits, untold: this.#hits - this.#told };
  }

  /** Of one gap after the other, each until the log has it. */
  tell(): void {
    if (this.#gap && !this.#telling) this.#telling = this.#tellAll();
  }

  /** The last gap is told if the log takes it within a second. */
  async close(): Promise<void> {
    this.tell();
    await inTime(LAST_APPEND_MS, this.#telling ?? Promise.resolve(), systemClock.sleep);
    this.#stopping.abort();
  }

  async #tellAll(): Promise<void> {
    const { append, random } = this.#deps;
    const { signal } = this.#stopping;
    for (let gap = this.#gap; gap && !signal.aborted; gap = this.#gap) {
      this.#gap = undefined;
      const { hits } = gap;
      const told = async () => {
        await append(gap);
        this.#told += hits;
      };
      await keepTrying({ ...RETRY, random }, told, signal);
    }
    this.#telling = undefined;
  }
}
