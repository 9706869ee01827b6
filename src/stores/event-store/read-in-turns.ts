// The event store of a thread whose works take turns: each page of the log is read in one, as a store may read without waiting.
import type { Turns } from "../../runtime/threads/time-slices.ts";
import type { EventStore } from "./port.ts";

export function readInTurns(store: EventStore, turns: Turns): EventStore {
  const inTurn =
    <A extends unknown[], R>(read: (...asked: A) => Promise<R>) =>
    async (...asked: A): Promise<R> => {
      if (turns.isOver) await turns.next();
      return await read(...asked);
    };
  const { read, readAll, readStored } = store;
  return { ...store, read: inTurn(read), readAll: inTurn(readAll), readStored: inTurn(readStored) };
}
