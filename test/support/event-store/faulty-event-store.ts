// A fault double: a real event store whose appends fail, or crash the caller, as a script says.
import { setImmediate as turn } from "node:timers/promises";
import { StoreUnavailable } from "../../../src/stores/connections/errors.ts";
import type { EventStore } from "../../../src/stores/event-store/port.ts";

/** `lost`: appended, but the answer is an error. `slow`: longer than the rest between two appends. */
export const APPEND_FAULTS = [
  "refused",
  "lost",
  "slow",
  "slow and lost",
  "crash before",
  "crash after",
] as const;
export type AppendFault = (typeof APPEND_FAULTS)[number] | "none";

export type FaultyEventStore = EventStore & {
  /** Faults of the next appends, in order. */
  script: AppendFault[];
  /** While true, every append without a fault in the script is refused. */
  unavailable: boolean;
  /** While true, no call is executed or answered. */
  crashed: boolean;
};

const SLOW_TURNS = 12;

export function faultyEventStore(sound: EventStore, onCrash: () => void = () => undefined): FaultyEventStore {
  const unlessCrashed = <T>(answer: Promise<T>): Promise<T> =>
    answer.then((value) => (faulty.crashed ? new Promise<T>(() => undefined) : value));
  const crash = (): Promise<never> => {
    onCrash();
    return new Promise(() => undefined);
  };
  const unavailable = () => new StoreUnavailable("the store is unavailable");
  const faulty: FaultyEventStore = {
    ...sound,
    script: [],
    unavailable: false,
    crashed: false,
    async append(...request) {
      if (faulty.crashed) return new Promise(() => undefined);
      const fault = faulty.script.shift() ?? (faulty.unavailable ? "refused" : "none");
      if (fault === "refused") throw unavailable();
      if (fault === "crash before") return crash();
      if (fault === "slow") await turns(SLOW_TURNS);
      const result = await unlessCrashed(sound.append(...request));
      if (fault === "crash after") return crash();
      if (fault === "slow and lost") await turns(SLOW_TURNS);
      if (fault === "lost" || fault === "slow and lost") throw unavailable();
      return result;
    },
    read: (...request) => {
      if (faulty.unavailable) return Promise.reject(unavailable());
      return faulty.crashed ? new Promise(() => undefined) : unlessCrashed(sound.read(...request));
    },
  };
  return faulty;
}

export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}
