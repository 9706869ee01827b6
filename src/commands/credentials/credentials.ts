// What an account signs in with, as one digest: what was made for it before a change of password or address is void after.
import { createHash } from "node:crypto";
import type { Secrets } from "../../secrets/port.ts";
import { emailSecret } from "../account/open-account.ts";
import { normalEmail } from "./email-address.ts";
import { passwordEpoch } from "./password.ts";

/** `digest`: SHA-256 in hex, of the epoch of the password and the address. */
export type Credentials = { email: string; digest: string };

/** Undefined for an account that isn't there, and for a closed one: closing erases its address. */
export async function credentialsOf(
  { secrets, clock }: { secrets: Secrets; clock: () => Date },
  accountId: string,
): Promise<Credentials | undefined> {
  const now = clock();
  const [epoch, email] = await Promise.all([
    passwordEpoch(secrets, accountId, now),
    secrets.get(emailSecret(accountId), now),
  ]);
  if (typeof email !== "string") return undefined;
  const digest = createHash("sha256")
    .update(`${epoch} ${normalEmail(email)}`)
    .digest("hex");
  return { email, digest };
}
