// A fault double: a real event store whose appends fail as a script says, or end the life of whoever asked.
import { setImmediate as turn } from "node:timers/promises";
import { type EventStore, StoreUnavailable } from "../../../src/event-store/port.ts";

/** `lost`: done, and the answer doesn't come back. `slow`: well beyond the writer's patience. */
export const APPEND_FAULTS = [
  "refused",
  "lost",
  "slow",
  "slow and lost",
  "dead before",
  "dead after",
] as const;
export type AppendFault = (typeof APPEND_FAULTS)[number] | "none";

export type FaultyEventStore = EventStore & {
  /** What the next appends meet, in turn. */
  script: AppendFault[];
  /** While true every append that has no line in the script is refused. */
  unavailable: boolean;
  /** Nothing is answered, or done, any more. */
  dead: boolean;
};

const SLOW_TURNS = 12;

export function faultyEventStore(sound: EventStore, onDeath: () => void = () => undefined): FaultyEventStore {
  const alive = <T>(answer: Promise<T>): Promise<T> =>
    answer.then((value) => (faulty.dead ? new Promise<T>(() => undefined) : value));
  const die = (): Promise<never> => {
    onDeath();
    return new Promise(() => undefined);
  };
  const unavailable = () => new StoreUnavailable("the store is unavailable");
  const faulty: FaultyEventStore = {
    script: [],
    unavailable: false,
    dead: false,
    async append(...request) {
      if (faulty.dead) return new Promise(() => undefined);
      const fault = faulty.script.shift() ?? (faulty.unavailable ? "refused" : "none");
      if (fault === "refused") throw unavailable();
      if (fault === "dead before") return die();
      if (fault === "slow") await turns(SLOW_TURNS);
      const result = await alive(sound.append(...request));
      if (fault === "dead after") return die();
      if (fault === "slow and lost") await turns(SLOW_TURNS);
      if (fault === "lost" || fault === "slow and lost") throw unavailable();
      return result;
    },
    read: (...request) => {
      if (faulty.unavailable) return Promise.reject(unavailable());
      return faulty.dead ? new Promise(() => undefined) : alive(sound.read(...request));
    },
    readAll: (options) => sound.readAll(options),
    subscribe: (options) => sound.subscribe(options),
    head: () => sound.head(),
    close: () => sound.close(),
  };
  return faulty;
}

export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}
