// What is done with a person, whatever accounts they are a member of: registered, named, signed out everywhere, made an operator,
// removed.
import type { EventStore } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { acceptLabel } from "../accept-text.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { markOperator, register, remove } from "./decide-person.ts";
import { bindEmail, personWithEmail, releaseEmail, withAddressLock } from "./email.ts";
import { forgetIdentities } from "./identities.ts";
import { forgetPasskeys } from "./passkeys.ts";
import { byPerson, onPerson, recordAct, writeForPerson } from "./person-stream.ts";
import {
  deviceSecret,
  emailSecret,
  LAST_CLAIMS_SECRET,
  nameSecret,
  passwordSecret,
  provenEmailSecret,
  sessionSecret,
} from "./secrets.ts";

type Deps = CommandDeps & { secrets: Secrets };

/**
 * At the first sign-in of somebody who gets no account of their own. `email`: undefined for who has none. `keepSecrets`: stores by
 * what they sign in, before the address is theirs. @throws email_taken where the address is a person's by now
 */
export async function registerPerson(
  deps: Deps,
  requestId: string,
  email: string | undefined,
  keepSecrets?: (personId: string) => Promise<void>,
): Promise<Appended & { personId: string }> {
  const personId = deps.newId();
  const record = async () => {
    const registered = await onPerson(deps, byPerson(requestId, personId), personId, (person, at) =>
      register(person, { personId, at }),
    );
    await keepSecrets?.(personId);
    return { personId, ...registered };
  };
  if (email === undefined) {
    const registered = await record();
    await deps.secrets.put(emailSecret(personId), { value: "" });
    return registered;
  }
  return await withAddressLock(deps, email, async () => {
    if (await personWithEmail(deps, email)) throw new Refused("email_taken");
    const registered = await record();
    await bindEmail(deps, personId, email);
    return registered;
  });
}

/** How they want to be called, in lists of members and in histories. `text`: empty for the address instead. @throws person_not_found */
export async function changeName(
  { secrets, eventStore }: { secrets: Secrets; eventStore: EventStore },
  personId: string,
  text: string,
): Promise<void> {
  const name = acceptLabel(text);
  const key = nameSecret(personId);
  const change = () => (name === "" ? secrets.delete(key) : secrets.put(key, { value: name }));
  await writeForPerson({ eventStore }, personId, change, () => secrets.delete(key));
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

/** Signs the person out everywhere; no browser is known any more. @throws person_not_found once they are removed */
export async function endSessions(deps: Deps, context: CommandContext, personId: string): Promise<Appended> {
  for (const name of await sessionSecrets(deps, personId)) await deps.secrets.delete(name);
  return await recordAct(deps, context, personId, "SessionsEnded", { sessions: "all" });
}

/** Names of the secrets of the person's sessions and known browsers. */
async function sessionSecrets({ secrets, clock }: Deps, personId: string): Promise<string[]> {
  const prefixes = [sessionSecret(personId, ""), deviceSecret(personId, "")];
  const listed = await Promise.all(prefixes.map((prefix) => secrets.list(prefix, clock())));
  return listed.flat().map(({ key }) => key);
}

/**
 * For good; again where it was interrupted. The address can be used by somebody else afterwards. Memberships are ended elsewhere
 * (account/change-members.ts).
 */
export async function removePerson(deps: Deps, context: CommandContext, personId: string): Promise<Appended> {
  const removed = await onPerson(deps, context, personId, (person, at) => remove(person, { personId, at }));
  const { secrets, clock } = deps;
  const email = await secrets.get(emailSecret(personId), clock());
  if (typeof email === "string") await releaseEmail(deps, personId, email);
  const names = [emailSecret, provenEmailSecret, nameSecret, passwordSecret].map((of) => of(personId));
  names.push(LAST_CLAIMS_SECRET, ...(await sessionSecrets(deps, personId)));
  for (const name of names) await secrets.delete(name);
  await forgetIdentities(deps, personId);
  await forgetPasskeys(deps, personId);
  return removed;
}
