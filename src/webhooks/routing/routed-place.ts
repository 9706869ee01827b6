// Up to where the log is routed, kept with the deliveries, and which events were passed without one.
import { beginningOf } from "../../commands/begin-log.ts";
import { utcDate } from "../../runtime/moment.ts";
import { type SetAsideEvent, setAsideEvent } from "../../stores/coordination/set-aside.ts";
import { isOfThisLog } from "../../stores/event-store/foreign-position.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import { type DeliveryQueue, type RoutedPlace, setAsideIn } from "../queue/queue.ts";
import type { OnRefused } from "./subscribers.ts";

export type RoutedPlaceDeps = {
  eventStore: EventStore;
  queue: Pick<DeliveryQueue, "routed" | "noteRouted">;
  clock: () => Date;
  log: { error(fields: object, message: string): void };
};

/** Methods throw what the stores throw. */
export type PlaceInLog = {
  /** From where routing goes on; START before the first event. */
  readonly position: Position;
  readonly setAside: readonly SetAsideEvent[];
  /** Notes an event that can't be routed, and passes it: stored with the next move. */
  refuse: OnRefused;
  /** To the last event that was routed. */
  move(to: { position: Position; eventId: string }): Promise<void>;
  /** To where the log was looked through without an event, so that nobody does it again; any event there tells the log. */
  pass(position: Position): Promise<void>;
  /** Notes that these alone are still set aside, and what is refused by `again`, which routes the others. */
  settle(still: readonly SetAsideEvent[], again: () => Promise<void>): Promise<void>;
};

/** Of the events that are set aside; others are counted. */
const MOST_NOTED = 100;
/** As many as an event can be routed after it was recorded (queue/queue.ts). */
const DAYS_KEPT = 31;

export async function openPlaceInLog(deps: RoutedPlaceDeps): Promise<PlaceInLog> {
  const { eventStore, queue, clock, log } = deps;
  let routed = await placeOfThisLog(deps);
  const { count, events } = setAsideIn(routed);
  const setAside = { count, events: [...events] };

  async function move({ position, eventId }: { position: Position; eventId: string }): Promise<void> {
    const day = utcDate(clock());
    const before = routed?.days ?? [];
    const days =
      before.at(-1)?.day === day ? before : [...before, { day, position, eventId }].slice(-DAYS_KEPT);
    const logId = routed?.logId ?? (await beginningOf(eventStore))?.logId;
    routed = { position, eventId, setAside, days, ...(logId !== undefined && { logId }) };
    await queue.noteRouted(routed);
  }

  return {
    get position() {
      return routed?.position ?? START;
    },
    get setAside() {
      return setAside.events;
    },
    refuse(recorded, error) {
      const event = setAsideEvent(recorded, error);
      const { position } = event;
      // Events of accounts are read again at each start.
      if (setAside.events.some((noted) => noted.position === position)) return;
      if (setAside.events.length < MOST_NOTED) setAside.events.push(event);
      else if (routed && position <= routed.position) return;
      setAside.count += 1;
      log.error(event, "an event can't be routed to webhooks and was set aside");
    },
    move,
    async pass(position) {
      if (position <= (routed?.position ?? START)) return;
      const eventId = await eventStore.idAt(position);
      if (eventId !== undefined) await move({ position, eventId });
    },
    async settle(still, again) {
      setAside.count -= setAside.events.length - still.length;
      setAside.events = [...still];
      await again();
      if (routed) await move(routed);
    },
  };
}

/**
 * Where the place is not of this log, as after an older copy of the log was put back, it goes back to the last day's that is:
 * what was delivered is in the queue and is not made again. Undefined: from the first event. @throws what the stores throw
 */
async function placeOfThisLog({ eventStore, queue, log }: RoutedPlaceDeps): Promise<RoutedPlace | undefined> {
  const routed = await queue.routed();
  if (!routed || (await isOfThisLog({ eventStore }, routed))) return routed;
  const days = [...routed.days];
  let earlier = days.at(-1);
  for (; earlier && !(await isOfThisLog({ eventStore }, earlier)); earlier = days.at(-1)) days.pop();
  log.error(
    { routed: routed.position, goesOnAfter: earlier?.position ?? null },
    "the log is not the one up to which webhooks were routed: it is routed again from an earlier place, and no delivery is made twice",
  );
  if (!earlier) return undefined;
  const { position, eventId } = earlier;
  const events = routed.setAside.events.filter((event) => event.position <= position);
  return { ...routed, position, eventId, setAside: { count: events.length, events }, days };
}
