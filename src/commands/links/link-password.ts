// Passwords of links: argon2id hashes in the secrets, by ids that events hold.
import { hash, verify } from "@node-rs/argon2";
import type { Secrets } from "../../stores/secrets/port.ts";
import { PASSWORD_COST, type PasswordWork } from "../password-work.ts";

/** As it was typed, or as a hash from elsewhere (isUsableHash). */
export type NewLinkPassword = { passwordId: string } & ({ text: string } | { hash: string });

/** The most that a hash from elsewhere may cost, in KiB, iterations and lanes: whoever follows the link has one computed. */
const MOST_COST = { memoryCost: 65_536, timeCost: 10, parallelism: 4 } as const;
/** RFC 9106, 3.1. */
const LEAST_MEMORY_OF_A_LANE = 8;

/** Where the hash of a link's password is kept. */
export const linkPasswordSecret = (passwordId: string) => `link-password/${passwordId}`;

export type KeepPasswordDeps = {
  secrets: Pick<Secrets, "put">;
  passwordWork: Pick<PasswordWork, "links">;
};

/** Before the event that holds the id, and no sooner: what is refused, or only looked at, is not hashed. @throws too_busy */
export async function keepLinkPassword(
  { secrets, passwordWork }: KeepPasswordDeps,
  { passwordId, ...password }: NewLinkPassword,
): Promise<void> {
  const hashed = async ({ text }: { text: string }) =>
    await passwordWork.links(() => hash(normal(text), PASSWORD_COST));
  const value = "hash" in password ? password.hash : await hashed(password);
  await secrets.put(linkPasswordSecret(passwordId), { value });
}

/** Whether passwords can be checked against a hash from elsewhere, at no more than MOST_COST. */
export async function isUsableHash(text: string): Promise<boolean> {
  const [, m, t, p, digest] =
    /^\$argon2id\$v=19\$m=([1-9]\d*),t=([1-9]\d*),p=([1-9]\d*)(\$[^$]{11,64}\$[^$]{22,128})$/.exec(text) ??
    [];
  const [memoryCost, timeCost, parallelism] = [Number(m), Number(t), Number(p)];
  if (!(memoryCost >= LEAST_MEMORY_OF_A_LANE * parallelism && memoryCost <= MOST_COST.memoryCost))
    return false;
  if (timeCost > MOST_COST.timeCost || parallelism > MOST_COST.parallelism) return false;
  // Salt and digest are decoded at the least cost that there is.
  return await verify(`$argon2id$v=19$m=8,t=1,p=1${digest}`, "").then(
    () => true,
    () => false,
  );
}

/** For a password that no link has any more, or that none got after all. */
export async function forgetPassword(
  { secrets }: { secrets: Pick<Secrets, "delete"> },
  passwordId: string | null | undefined,
): Promise<void> {
  if (passwordId) await secrets.delete(linkPasswordSecret(passwordId));
}

/**
 * Undefined where there is no such password: it was replaced in this moment, or the secrets were lost.
 * @throws StoreUnavailable
 */
export async function isLinkPassword(
  { secrets, clock }: { secrets: Pick<Secrets, "get">; clock: () => Date },
  passwordId: string,
  password: string,
): Promise<boolean | undefined> {
  const passwordHash = await secrets.get(linkPasswordSecret(passwordId), clock());
  return typeof passwordHash === "string" ? await verify(passwordHash, normal(password)) : undefined;
}

/** NFKC, so that a password typed on another system fits. */
function normal(password: string): string {
  return password.normalize("NFKC");
}
