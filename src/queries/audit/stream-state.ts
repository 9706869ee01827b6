// What a stream's events come to as of a revision, folded by its decider, and what differs from an earlier revision.

import { evolve as evolveAccount, noAccount } from "../../commands/account/account.ts";
import { evolveClaim, unclaimed } from "../../commands/domains/decide-domain.ts";
import { evolve as evolveLink, freeLink } from "../../commands/links/link.ts";
import { evolve as evolvePerson, newPerson } from "../../commands/people/decide-person.ts";
import { Refused } from "../../commands/refusals.ts";
import { accountEvents, webhookEvents } from "../../events/accounts/account-events.ts";
import { sharingEvents } from "../../events/accounts/sharing-events.ts";
import type {
  AccountEvent,
  DomainEvent,
  LinkEvent,
  PersonEvent,
  StoredEvent,
} from "../../events/catalogue.ts";
import { readableEvent } from "../../events/read-event.ts";
import { type Withdrawal, withdrawalsAfter } from "../../events/withdrawals.ts";
import { categoryOf } from "../../stores/event-store/categories.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import { WITHHELD } from "./audited-event.ts";

/** Plain JSON without what is internal. `null`: before the first event. */
type State = Record<string, unknown> | null;

type Fold = { initial: unknown; evolve: (state: never, event: never) => unknown };

const FOLDS: Readonly<Record<string, Fold>> = {
  account: foldOf(noAccount, (state, event) => evolveAccount(state, event as AccountEvent)),
  domain: foldOf(unclaimed, (state, event) => evolveClaim(state, event as DomainEvent)),
  person: foldOf(newPerson, (state, event) => evolvePerson(state, event as PersonEvent)),
  link: foldOf(freeLink, (state, event) => evolveLink(state, event as LinkEvent)),
  // Those in force, by id.
  withdrawals: foldOf(new Map<string, Withdrawal>(), (state, event) => {
    const inForce = withdrawalsAfter([...state.values()], event);
    return new Map(inForce.map((withdrawal) => [withdrawal.withdrawalId, withdrawal]));
  }),
};

/** Whether the events of the stream add up to a state. */
export function hasState(stream: string): boolean {
  return Object.hasOwn(FOLDS, categoryOf(stream));
}

/** Names of members that hold what events call internal: the deciders call them the same. */
const INTERNAL: ReadonlySet<string> = new Set(
  Object.values({ ...accountEvents, ...webhookEvents, ...sharingEvents }).flatMap((entry) =>
    "internal" in entry ? entry.internal : [],
  ),
);

/**
 * `revision`: the last one by default. `against`: the one before by default; -1: the time before the first event. Reads the
 * stream up to `revision`. `has_state`: false for streams of facts that add up to no state, such as clicks.
 * @throws not_found for a stream or a revision that there is not
 */
export async function streamState(
  { eventStore }: { eventStore: Pick<EventStore, "read"> },
  stream: string,
  revisions: { revision?: number | undefined; against?: number | undefined } = {},
) {
  const [last] = await eventStore.read(stream, { backwards: true, limit: 1 });
  if (!last) throw new Refused("not_found", `There is no stream ${stream}`);
  const { revision = last.revision } = revisions;
  const { against = revision - 1 } = revisions;
  if (revision > last.revision || against > last.revision)
    throw new Refused("not_found", `The last revision of ${stream} is ${last.revision}`);
  const fold = hasState(stream) ? FOLDS[categoryOf(stream)] : undefined;
  const common = { stream, revision, against, last_revision: last.revision };
  if (!fold) return { ...common, has_state: false, state: null, before: null, changes: [] };
  const states = await statesAt(eventStore, stream, fold, [revision, against]);
  const [state = null, before = null] = [states.get(revision), states.get(against)];
  return { ...common, has_state: true, state, before, changes: changesBetween(before, state) };
}

/** What was added, removed or changed, by paths such as `keys.<id>`; null where there is nothing. */
export function changesBetween(before: State, after: State) {
  const [old, now] = [leaves(before), leaves(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((path) => {
    const [was = null, is = null] = [old.get(path), now.get(path)];
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ path, before: was, after: is }];
  });
}

/** Deciders may change a state in place, so it is copied when it is the wanted one. */
async function statesAt(
  eventStore: Pick<EventStore, "read">,
  stream: string,
  { initial, evolve }: Fold,
  revisions: readonly number[],
): Promise<Map<number, State>> {
  const states = new Map<number, State>();
  const end = Math.max(...revisions);
  let state = initial;
  for await (const page of streamPages(eventStore, stream)) {
    for (const recorded of page) {
      if (recorded.revision > end) return states;
      // One that can't be read changes nothing.
      const event = readableEvent(recorded);
      if (event) state = evolve(state as never, event as never);
      if (revisions.includes(recorded.revision)) states.set(recorded.revision, plain(state) as State);
    }
    if ((page.at(-1)?.revision ?? 0) >= end) return states;
  }
  return states;
}

function foldOf<S>(initial: S, evolve: (state: S, event: StoredEvent) => S): Fold {
  return { initial, evolve: evolve as unknown as Fold["evolve"] };
}

function plain(value: unknown): unknown {
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.map(([name, member]) => [name, INTERNAL.has(name) ? WITHHELD : plain(member)]),
  );
}

function leaves(value: unknown, path = ""): Map<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return new Map(path === "" ? [] : [[path, value]]);
  return new Map(
    Object.entries(value).flatMap(([name, member]) => [
      ...leaves(member, path === "" ? name : `${path}.${name}`),
    ]),
  );
}
