// When a runner commits next: soon, so that a click is seen within a second; in a flood so that redirects go first.
import { cpus } from "node:os";
import type { EventStore, Position } from "../event-store/port.ts";
import { pause } from "../pause.ts";

/**
 * Least time between two commits while events keep coming, so that hot documents merge; a lone event never waits.
 * The dearer a commit, the longer until the next, up to what lets a click be seen within a second.
 */
const COMMIT_EVERY_MS = 250;
const COMMIT_AT_LEAST_EVERY_MS = 600;
const REST_FOR_WORK = 3;
/** A commit of so many events while more keep coming is a flood: each document is then written once in two seconds. */
export const FLOOD = 5_000;
const COMMIT_IN_FLOOD_EVERY_MS = 2_000;
/** Where hardly a core was idle meanwhile, whoever answers redirects then has them for so many times longer. */
const BUSY = 0.1;
const REST_FOR_WORK_WHERE_BUSY = 6;
const LONGEST_REST_MS = 12_000;
const LOOK_EVERY_MS = 250;

/** Milliseconds of all cores since the machine started. */
export type CoreTimes = { idle: number; all: number };

export type PaceDeps = {
  eventStore: Pick<EventStore, "head">;
  /** Of this machine by default. */
  coreTimes?: () => CoreTimes;
  /** Milliseconds from any start. */
  now?: () => number;
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
};

export class Pace {
  readonly #deps: Required<PaceDeps>;
  #lastCommit = Number.NEGATIVE_INFINITY;
  #head: Position | undefined;
  #started = 0;
  #cores: CoreTimes = { idle: 0, all: 0 };

  constructor(deps: PaceDeps) {
    this.#deps = { coreTimes: machineTimes, now: () => performance.now(), wait: pause, ...deps };
  }

  /** Right before a commit of so many events. @throws StoreUnavailable */
  async begin(events: number): Promise<void> {
    if (events >= FLOOD) {
      this.#head = await this.#deps.eventStore.head();
      this.#cores = this.#deps.coreTimes();
    }
    this.#started = this.#deps.now();
  }

  /** After it: resolves when the next one is due. @throws StoreUnavailable */
  async rest(events: number, signal: AbortSignal): Promise<void> {
    const now = this.#deps.now();
    const work = now - this.#started;
    const sinceLast = now - this.#lastCommit;
    this.#lastCommit = now;
    if (events >= FLOOD) {
      const rest = this.#isBusy() ? Math.min(LONGEST_REST_MS, REST_FOR_WORK_WHERE_BUSY * work) : 0;
      return await this.#whileMoreComes(Math.max(rest, COMMIT_IN_FLOOD_EVERY_MS - sinceLast), signal);
    }
    const interval = Math.min(Math.max(COMMIT_EVERY_MS, REST_FOR_WORK * work), COMMIT_AT_LEAST_EVERY_MS);
    if (sinceLast < interval) await this.#deps.wait(interval - sinceLast, signal);
  }

  #isBusy(): boolean {
    const { idle, all } = this.#deps.coreTimes();
    return idle - this.#cores.idle < BUSY * (all - this.#cores.all);
  }

  /** Nobody is in the way of a backlog to which nothing is added: it is folded at full speed. */
  async #whileMoreComes(ms: number, signal: AbortSignal): Promise<void> {
    for (let left = ms; left > 0 && !signal.aborted; left -= LOOK_EVERY_MS) {
      const head = await this.#deps.eventStore.head();
      if (head === this.#head) return;
      this.#head = head;
      await this.#deps.wait(Math.min(left, LOOK_EVERY_MS), signal);
    }
  }
}

function machineTimes(): CoreTimes {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((time) => Object.values(time))) };
}
