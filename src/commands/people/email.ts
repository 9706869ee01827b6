// E-mail addresses: which are accepted, whose one is, and how a person gets another one.

import type { EventStore } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { Refused } from "../refusals.ts";
import { type LockDeps, withLock } from "../with-lock.ts";
import { writeForPerson } from "./person-stream.ts";
import { emailSecret, normalEmail, personByEmailSecret, provenEmailSecret } from "./secrets.ts";

/** RFC 5321 length limits and one `@`; whether the mailbox exists is not checked. @throws invalid_email */
export function acceptEmail(text: string): string {
  const email = text.trim();
  if (email.length > 254 || !/^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+$/u.test(email))
    throw new Refused("invalid_email");
  return email;
}

/**
 * The person with this address, and the address as it is stored. A binding that the person's own secret does not
 * confirm, left over from an interrupted change of address, is ignored.
 */
export async function personWithEmail(
  { secrets, clock }: { secrets: Secrets; clock: () => Date },
  email: string,
): Promise<{ personId: string; email: string } | undefined> {
  const bound = await secrets.get(personByEmailSecret(email), clock());
  if (typeof bound !== "string") return undefined;
  const current = await secrets.get(emailSecret(bound), clock());
  if (typeof current !== "string" || normalEmail(current) !== normalEmail(email)) return undefined;
  return { personId: bound, email: current };
}

/**
 * Whether a mail to the person's address has reached them: they followed a link that was mailed there. One that was handed
 * over proves nothing.
 */
export async function isEmailProven(
  { secrets, clock }: { secrets: Secrets; clock: () => Date },
  personId: string,
): Promise<boolean> {
  const names = [emailSecret(personId), provenEmailSecret(personId)];
  const [email, proven] = await Promise.all(names.map((name) => secrets.get(name, clock())));
  return typeof email === "string" && normalEmail(email) === proven;
}

/** Called when the person has followed a link that was mailed to this address, and shown to nobody. */
export async function provedEmail(
  deps: { secrets: Secrets; eventStore: EventStore },
  personId: string,
  email: string,
): Promise<void> {
  const name = provenEmailSecret(personId);
  const change = () => deps.secrets.put(name, { value: normalEmail(email) });
  await writeForPerson(deps, personId, change, () => deps.secrets.delete(name));
}

/** Serialises the use cases that bind the same address. @throws email_taken when another one runs */
export async function withAddressLock<T>(deps: LockDeps, email: string, work: () => Promise<T>): Promise<T> {
  return await withLock(deps, `${personByEmailSecret(email)}/lock`, "email_taken", work);
}

export type ChangedEmail = { previous: string; email: string };

/**
 * Binds the new address, stores it, then releases the old one: interrupted at any step, they can still be found by
 * the old address, the new one, or both.
 * @throws invalid_email, email_taken, person_not_found
 */
export async function changeEmail(
  deps: LockDeps & { eventStore: EventStore },
  personId: string,
  text: string,
): Promise<ChangedEmail> {
  const email = acceptEmail(text);
  const change = () => withAddressLock(deps, email, () => bindEmail(deps, personId, email));
  const undo = async () => {
    await deps.secrets.delete(emailSecret(personId));
    await releaseEmail(deps, personId, email);
  };
  return await writeForPerson(deps, personId, change, undo);
}

/** Within withAddressLock. @throws email_taken */
export async function bindEmail(deps: LockDeps, personId: string, email: string): Promise<ChangedEmail> {
  const { secrets, clock } = deps;
  const previous = String((await secrets.get(emailSecret(personId), clock())) ?? "");
  const bound = await secrets.putIfAbsent(personByEmailSecret(email), { value: personId }, clock());
  if (bound !== personId) {
    if (await personWithEmail(deps, email)) throw new Refused("email_taken");
    // The binding is left over from an interrupted change of address or sign-up.
    await secrets.put(personByEmailSecret(email), { value: personId });
  }
  await secrets.put(emailSecret(personId), { value: email });
  if (previous && personByEmailSecret(previous) !== personByEmailSecret(email))
    await secrets.delete(personByEmailSecret(previous));
  return { previous, email };
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
