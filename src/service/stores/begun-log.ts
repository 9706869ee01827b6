// The log of a deployment behind its beginning, which is read once, and noted by `begin` alone: by then it is known that
// what is kept beside the log is not of another one.
import { beginLog, beginningOf, type LogBeginning } from "../../commands/begin-log.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { StoreUnavailable } from "../../stores/connections/errors.ts";
import { begunEventStore } from "../../stores/event-store/begun-event-store.ts";
import type { EventStore } from "../../stores/event-store/port.ts";

export type BegunLog = {
  /** Unavailable as a whole until the log has begun, unless it is only read; streams can be read. */
  eventStore(): Promise<EventStore>;
  /** Undefined of a log that has not begun. @throws what the store throws */
  beginning(): Promise<LogBeginning | undefined>;
  /** @throws StoreUnavailable while the log has not begun; what the store throws */
  required(): Promise<LogBeginning>;
  /** @throws streams_of_others; what the store throws */
  begin(): Promise<LogBeginning>;
};

export function begunLog(openLog: () => Promise<EventStore>, { readOnly = false } = {}): BegunLog {
  let begun: LogBeginning | undefined;
  let opening: Promise<EventStore> | undefined;
  const whole = () => {
    opening ??= openLog();
    return opening;
  };
  const beginning = async () => {
    begun ??= await beginningOf(await whole());
    return begun;
  };
  const required = async () => {
    const first = await beginning();
    if (!first) throw new StoreUnavailable("The log has not begun yet");
    return first;
  };
  return {
    eventStore: async () => begunEventStore(await whole(), readOnly ? beginning : required),
    beginning,
    required,
    async begin() {
      begun ??= await beginLog({ ...runtimeDeps, eventStore: await whole() });
      return begun;
    },
  };
}
