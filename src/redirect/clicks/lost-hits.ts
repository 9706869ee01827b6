// Counts hits that could neither be stored nor kept, and has the log say so as soon as it takes appends.
import { keepTrying } from "../../runtime/keep-trying.ts";
import { inTime, systemClock } from "../../runtime/pause.ts";

/** `from`, `until`: of the first and the last hit, milliseconds since 1970. */
export type ClickGap = { id: string; from: number; until: number; hits: number };

/** What ended processes have lost, and could not say any more. Methods throw the errors of the file system. */
export type LossNotes = {
  left(): ClickGap[];
  note(gap: ClickGap): void;
  clear(id: string): void;
};

/** `hits`: since the process started, with those that ended processes had left. `untold`: of these, those that are in no event of the log yet. */
export type LossStatus = { hits: number; untold: number };

export type LostHitsDeps = {
  /** Says it in the log; the same gap once, however often. */
  append: (gap: ClickGap) => Promise<void>;
  newId: () => string;
  /** [0,1) for jitter. */
  random: () => number;
  notes?: LossNotes | undefined;
};

const RETRY = { fromMs: 50, toMs: 1_000 };
const LAST_APPEND_MS = 1_000;

export class LostHits {
  readonly #deps: LostHitsDeps;
  readonly #stopping = new AbortController();
  #hits = 0;
  /** Not in the log yet, the oldest first. */
  #untold: ClickGap[] = [];
  /** The last one, to which the next hit is added. */
  #gap: ClickGap | undefined;
  #telling: Promise<void> | undefined;

  constructor(deps: LostHitsDeps) {
    this.#deps = deps;
    this.#untold = this.#inNotes((notes) => notes.left()) ?? [];
    this.#hits = this.status().untold;
    this.tell();
  }

  /** `at`: milliseconds since 1970. */
  add(at: number): void {
    if (!this.#gap) {
      this.#gap = { id: this.#deps.newId(), from: at, until: at, hits: 0 };
      this.#untold.push(this.#gap);
    }
    this.#gap.from = Math.min(this.#gap.from, at);
    this.#gap.until = Math.max(this.#gap.until, at);
    this.#gap.hits++;
    this.#hits++;
  }

  status(): LossStatus {
    return { hits: this.#hits, untold: this.#untold.reduce((sum, { hits }) => sum + hits, 0) };
  }

  /** Of one gap after the other, each until the log has it. */
  tell(): void {
    if (this.#untold.length > 0 && !this.#telling) this.#telling = this.#tellAll();
  }

  /** Those that may be lost with the process in a moment, and those that the log doesn't say yet, for the next process. */
  note(atLast: ClickGap | undefined): void {
    for (const gap of [...this.#untold, ...(atLast ? [atLast] : [])])
      this.#inNotes((notes) => notes.note(gap));
  }

  /** They are stored after all. */
  clear(atLast: ClickGap): void {
    this.#inNotes((notes) => notes.clear(atLast.id));
  }

  /** The last gap is told if the log takes it within a second. */
  async close(): Promise<void> {
    this.note(undefined);
    this.tell();
    await inTime(LAST_APPEND_MS, this.#telling ?? Promise.resolve(), systemClock.sleep);
    this.#stopping.abort();
  }

  async #tellAll(): Promise<void> {
    const { append, random } = this.#deps;
    const { signal } = this.#stopping;
    for (let [gap] = this.#untold; gap && !signal.aborted; [gap] = this.#untold) {
      if (gap === this.#gap) this.#gap = undefined;
      const told = gap;
      const tell = async () => {
        await append(told);
        this.#untold.shift();
        this.#inNotes((notes) => notes.clear(told.id));
      };
      await keepTrying({ ...RETRY, random }, tell, signal);
    }
    this.#telling = undefined;
  }

  /** Where the file can't be used, what is lost is said in the program's own log alone. */
  #inNotes<T>(work: (notes: LossNotes) => T): T | undefined {
    try {
      return this.#deps.notes && work(this.#deps.notes);
    } catch {
      return undefined;
    }
  }
}
