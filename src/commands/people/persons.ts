// Loads and changes one person's stream, and destroys what names them: the shared part of all commands of a person.
import type { PersonEvent } from "../../events/catalogue.ts";
import { personStream } from "../../events/streams.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import { type Appended, type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { did, evolve, newPerson, type PersonAct, type PersonState, remove } from "./person.ts";
import {
  deviceSecret,
  emailSecret,
  nameSecret,
  passwordSecret,
  personByEmailSecret,
  sessionSecret,
} from "./secrets.ts";

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

/** Appends what a person did. @throws person_not_found once they are removed */
export function recordAct(
  deps: CommandDeps,
  context: CommandContext,
  act: (done: { personId: string; at: string }) => PersonAct,
  personId: string,
): Promise<Appended> {
  return onPerson(deps, context, personId, (person, at) => did(person, act({ personId, at })));
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
  undo: () => Promise<void>,
): Promise<T> {
  if (await isRemoved(eventStore, personId)) throw new Refused("person_not_found");
  const changed = await change();
  if (!(await isRemoved(eventStore, personId))) return changed;
  await undo();
  throw new Refused("person_not_found");
}

/** For good; again where it was interrupted. Their memberships are ended elsewhere, before (account/members.ts). */
export async function removePerson(
  deps: CommandDeps & { secrets: Secrets },
  context: CommandContext,
  personId: string,
): Promise<Appended> {
  const removed = await onPerson(deps, context, personId, (person, at) => remove(person, { personId, at }));
  await erasePerson(deps, personId);
  return removed;
}

/** The address can be used by somebody else afterwards. */
export async function erasePerson(
  { secrets, clock }: { secrets: Secrets; clock: () => Date },
  personId: string,
): Promise<void> {
  const email = await secrets.get(emailSecret(personId), clock());
  if (typeof email === "string") await releaseEmail({ secrets, clock }, personId, email);
  const names = [emailSecret, nameSecret, passwordSecret].map((of) => of(personId));
  for (const prefix of [sessionSecret(personId, ""), deviceSecret(personId, "")])
    names.push(...(await secrets.list(prefix, clock())).map(({ key }) => key));
  for (const name of names) await secrets.delete(name);
}

/** Deletes the binding of the address, unless it is another person's by now. */
export async function releaseEmail(
  { secrets, clock }: { secrets: Secrets; clock: () => Date },
  personId: string,
  email: string,
): Promise<void> {
  const binding = personByEmailSecret(email);
  if ((await secrets.get(binding, clock())) === personId) await secrets.delete(binding);
}

async function isRemoved(eventStore: EventStore, personId: string): Promise<boolean> {
  return (await loadStream(eventStore, folded(personId))).state.status === "removed";
}

function folded(personId: string) {
  return { stream: personStream(personId), initial: newPerson, fold: evolve };
}
