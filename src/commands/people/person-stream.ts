// Loads and changes one person's stream: the shared part of all commands of a person.
import type { EventOf, PersonEvent } from "../../events/catalogue.ts";
import { personStream } from "../../events/streams.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { CommandContext } from "../caller.ts";
import { type Appended, type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { did, evolve, newPerson, type PersonAct, type PersonState } from "./decide-person.ts";

/**
 * Ids of the open accounts that a person is a member of; for what can't be taken back `all`. @throws StoreUnavailable where all
 * are asked for and nobody knows them yet
 */
export type AccountsOf = (personId: string, which?: "all") => Promise<readonly string[]>;

/** As the events of a person name them. */
export function byPerson(requestId: string, personId: string): CommandContext {
  return { requestId, actor: { type: "person", id: personId } };
}

/** `at`: the time of the command, ISO 8601 UTC. */
export async function onPerson(
  deps: CommandDeps,
  context: CommandContext,
  personId: string,
  decide: (person: PersonState, at: string) => readonly PersonEvent[],
): Promise<Appended> {
  const at = deps.clock().toISOString();
  const command = { ...folded(personId), decide: (person: PersonState) => decide(person, at) };
  const { position } = await handleCommand(deps, context, command);
  return { position };
}

/** Appends what was done with a person, or by them. `details`: of the event. @throws person_not_found once they are removed */
export function recordAct<T extends PersonAct["type"]>(
  deps: CommandDeps,
  context: CommandContext,
  personId: string,
  type: T,
  details: Omit<EventOf<T>["data"], "personId" | "at">,
): Promise<Appended> {
  return onPerson(deps, context, personId, (person, at) =>
    did(person, { type, data: { personId, at, ...details } } as PersonAct),
  );
}

/** As their events say now: not once they are removed. */
export async function isOperator(eventStore: EventStore, personId: string): Promise<boolean> {
  return (await loadPerson(eventStore, personId)).isOperator;
}

/**
 * Writes data of a person outside their stream, such as secrets, where no expected revision detects a removal that runs at
 * the same time: `removePerson` erases what `change` wrote before it, `undo` what `change` wrote after it.
 * @throws person_not_found; what `change` throws
 */
export async function writeForPerson<T>(
  { eventStore }: { eventStore: EventStore },
  personId: string,
  change: () => Promise<T>,
  undo: () => Promise<unknown>,
): Promise<T> {
  if (await isRemoved(eventStore, personId)) throw new Refused("person_not_found");
  const changed = await change();
  if (!(await isRemoved(eventStore, personId))) return changed;
  await undo();
  throw new Refused("person_not_found");
}

/** For good. */
export async function isRemoved(eventStore: EventStore, personId: string): Promise<boolean> {
  return (await loadPerson(eventStore, personId)).status === "removed";
}

async function loadPerson(eventStore: EventStore, personId: string): Promise<PersonState> {
  return (await loadStream(eventStore, folded(personId))).state;
}

function folded(personId: string) {
  return { stream: personStream(personId), initial: newPerson, fold: evolve };
}
