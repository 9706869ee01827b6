// Digest of an account's password epoch and address: tokens bound to it become void when either changes.
import { hash } from "node:crypto";
import type { Secrets } from "../../secrets/port.ts";
import { emailSecret } from "../account/open-account.ts";
import { normalEmail } from "./email-address.ts";
import { passwordEpoch } from "./password.ts";

/** `digest`: SHA-256 of password epoch and address, in hex. */
export type Credentials = { email: string; digest: string };

/** Undefined for an unknown account, and for a closed one: closing erases its address. */
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
  const digest = hash("sha256", `${epoch} ${normalEmail(email)}`);
  return { email, digest };
}
