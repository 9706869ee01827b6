// Passwords of links: argon2id hashes in the secrets, by ids that events hold.
import { hash, verify } from "@node-rs/argon2";
import type { Secrets } from "../../secrets/port.ts";

/** OWASP's minimum for argon2id: 19 MiB, two iterations, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Where the hash of a link's password is kept. */
export const linkPasswordSecret = (passwordId: string) => `link-password/${passwordId}`;

/** Returns the new password's id. */
export async function keepLinkPassword(
  { secrets, newId }: { secrets: Pick<Secrets, "put">; newId: () => string },
  password: string,
): Promise<string> {
  const id = newId();
  await secrets.put(linkPasswordSecret(id), { value: await hash(normal(password), COST) });
  return id;
}

/** Of a password that no link has any more, or none got after all. */
export async function forgetPassword(
  { secrets }: { secrets: Pick<Secrets, "delete"> },
  passwordId: string | null | undefined,
): Promise<void> {
  if (passwordId) await secrets.delete(linkPasswordSecret(passwordId));
}

/** Undefined where there is no such password: it was replaced in this moment, or the secrets were lost. @throws StoreUnavailable */
export async function isLinkPassword(
  { secrets, clock }: { secrets: Pick<Secrets, "get">; clock: () => Date },
  passwordId: string,
  given: string,
): Promise<boolean | undefined> {
  const kept = await secrets.get(linkPasswordSecret(passwordId), clock());
  return typeof kept === "string" ? await verify(kept, normal(given)) : undefined;
}

/** NFKC, so that a password typed on another system fits. */
function normal(password: string): string {
  return password.normalize("NFKC");
}
