// How a person wants to be called, in lists of members and in histories.
import type { EventStore } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { acceptLabel } from "../accept-text.ts";
import { writeForPerson } from "./persons.ts";
import { nameSecret } from "./secrets.ts";

/** `text`: empty for the address instead. @throws person_not_found */
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
