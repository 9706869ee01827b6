// Loads and changes one person's stream, and destroys what names them: the shared part of all commands of a person.
import type { PersonEvent } from "../../events/catalogue.ts";
import { personStream } from "../../events/streams.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import { type Appended, type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { forgetIdentities } from "./identities.ts";
import { forgetPasskeys } from "./passkeys.ts";
import { did, evolve, markOperator, newPerson, type PersonAct, type PersonState, remove } from "./person.ts";
import {
  deviceSecret,
  emailSecret,
  LAST_CLAIMS_SECRET,
  nameSecret,
  passwordSecret,
  personByEmailSecret,
  provenEmailSecret,
  sessionSecret,
} from "./secrets.ts";

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

/** Appends what a person did. @throws person_not_found once they are removed */
export function recordAct(
  deps: CommandDeps,
  context: CommandContext,
  act: (done: { personId: string; at: string }) => PersonAct,
  personId: string,
): Promise<Appended> {
  return onPerson(deps, context, personId, (person, at) => did(person, act({ personId, at })));
}

/** Nothing where they are, or are not, already. @throws person_not_found once they are removed */
export function changeOperator(
  deps: CommandDeps,
  context: CommandContext,
  personId: string,
  isOperator: boolean,
): Promise<Appended> {
  return onPerson(deps, context, personId, (person, at) =>
    markOperator(person, { personId, at }, isOperator),
  );
}

/** Whether the person is marked as an operator of this service now. */
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
  undo: () => Promise<void>,
): Promise<T> {
  if (await isRemoved(eventStore, personId)) throw new Refused("person_not_found");
  const changed = await change();
  if (!(await isRemoved(eventStore, personId))) return changed;
  await undo();
  throw new Refused("person_not_found");
}

/** Signs the person out everywhere; no browser is known any more. @throws person_not_found once they are removed */
export async function endSessions(
  deps: CommandDeps & { secrets: Secrets },
  context: CommandContext,
  personId: string,
): Promise<Appended> {
  const ended = (by: { personId: string; at: string }) =>
    ({ type: "SessionsEnded", data: { ...by, sessions: "all" } }) as const;
  for (const name of await sessionSecrets(deps, personId)) await deps.secrets.delete(name);
  return await recordAct(deps, context, ended, personId);
}

/** Names of the secrets of the person's sessions and known browsers. */
async function sessionSecrets(
  { secrets, clock }: { secrets: Secrets; clock: () => Date },
  personId: string,
): Promise<string[]> {
  const prefixes = [sessionSecret(personId, ""), deviceSecret(personId, "")];
  const listed = await Promise.all(prefixes.map((prefix) => secrets.list(prefix, clock())));
  return listed.flat().map(({ key }) => key);
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
async function erasePerson(
  { secrets, clock }: { secrets: Secrets; clock: () => Date },
  personId: string,
): Promise<void> {
  const email = await secrets.get(emailSecret(personId), clock());
  if (typeof email === "string") await releaseEmail({ secrets, clock }, personId, email);
  const names = [emailSecret, provenEmailSecret, nameSecret, passwordSecret].map((of) => of(personId));
  names.push(LAST_CLAIMS_SECRET, ...(await sessionSecrets({ secrets, clock }, personId)));
  for (const name of names) await secrets.delete(name);
  await forgetIdentities({ secrets, clock }, personId);
  await forgetPasskeys({ secrets, clock }, personId);
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
  return (await loadPerson(eventStore, personId)).status === "removed";
}

async function loadPerson(eventStore: EventStore, personId: string): Promise<PersonState> {
  return (await loadStream(eventStore, folded(personId))).state;
}

function folded(personId: string) {
  return { stream: personStream(personId), initial: newPerson, fold: evolve };
}
