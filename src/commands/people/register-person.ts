// Registers somebody who signs in for the first time, and gets no account of their own.

import type { Secrets } from "../../stores/secrets/port.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { bindEmail, personWithEmail, withAddressLock } from "./email.ts";
import { register } from "./person.ts";
import { byPerson, onPerson } from "./persons.ts";
import { emailSecret } from "./secrets.ts";

/**
 * `email`: undefined for who has none. `keepSecrets`: stores by what they sign in, before the address is theirs.
 * @throws email_taken where the address is a person's by now
 */
export async function registerPerson(
  deps: CommandDeps & { secrets: Secrets },
  requestId: string,
  email: string | undefined,
  keepSecrets: (personId: string) => Promise<void> = async () => undefined,
): Promise<Appended & { personId: string }> {
  const personId = deps.newId();
  const record = async () => {
    const registered = await onPerson(deps, byPerson(requestId, personId), personId, (person, at) =>
      register(person, { personId, at }),
    );
    await keepSecrets(personId);
    return registered;
  };
  if (email === undefined) {
    const { position } = await record();
    await deps.secrets.put(emailSecret(personId), { value: "" });
    return { personId, position };
  }
  return await withAddressLock(deps, email, async () => {
    if (await personWithEmail(deps, email)) throw new Refused("email_taken");
    const { position } = await record();
    await bindEmail(deps, personId, email);
    return { personId, position };
  });
}
