// Portal passwords: argon2id hashes, stored in the secrets and never in an event.
import { hash, verify } from "@node-rs/argon2";
import type { EventStore } from "../../event-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../secrets/port.ts";
import { writeForOpenAccount } from "../account/account-stream.ts";
import { isCommonPassword } from "./common-passwords.ts";
import { normalEmail } from "./email-address.ts";

/** `epoch` is new with every password; sessions and reset links of an older epoch are void. */
type PasswordRecord = { hash: string; epoch: string };

export const PASSWORD_MIN = 10;
/** Bounds the cost of hashing. */
const PASSWORD_MAX = 512;
/** OWASP's minimum for argon2id: 19 MiB, two iterations, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Verified against when there is no password, so that the answer takes the same time. */
const DUMMY_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$e5kx462mJpWIBADOTL6QeQ$NBgfWzzho/HGMkHulALrD9JAcnsY3el4SL9ZUg1tj00";

/** NIST SP 800-63B: a minimum length and a block list, no composition rules. @throws password_refused */
export function acceptPassword(given: string, about: { email: string }): string {
  const password = given.normalize("NFKC");
  if ([...password].length < PASSWORD_MIN)
    throw new Refused("password_refused", `Choose a password of at least ${PASSWORD_MIN} characters`);
  if (password.length > PASSWORD_MAX)
    throw new Refused("password_refused", `Choose a password of at most ${PASSWORD_MAX} characters`);
  const email = normalEmail(about.email);
  if (isCommonPassword(password) || [email, email.split("@")[0]].includes(password.toLowerCase()))
    throw new Refused(
      "password_refused",
      "This password is among the first that anyone would try; choose another one",
    );
  return password;
}

/** `accepted`: a result of `acceptPassword`. */
export function hashPassword(accepted: string): Promise<string> {
  return hash(accepted, COST);
}

/** Stores a hash of `hashPassword` as the account's password and returns its epoch. @throws account_not_found */
export async function keepPassword(
  deps: { eventStore: EventStore; secrets: Secrets; newId: () => string },
  accountId: string,
  passwordHash: string,
): Promise<string> {
  const key = passwordSecret(accountId);
  const record: PasswordRecord = { hash: passwordHash, epoch: deps.newId() };
  const change = () => deps.secrets.put(key, { value: record });
  await writeForOpenAccount(deps, accountId, change, () => deps.secrets.delete(key));
  return record.epoch;
}

/**
 * The epoch of the account's password if `given` matches, else undefined. Takes the same time for an unknown account and
 * for one without a password.
 */
export async function verifyPassword(
  deps: { secrets: Secrets; clock: () => Date },
  accountId: string | undefined,
  given: string,
): Promise<string | undefined> {
  const record =
    accountId === undefined ? undefined : await passwordOf(deps.secrets, accountId, deps.clock());
  const matches = await verify(record?.hash ?? DUMMY_HASH, given.slice(0, PASSWORD_MAX).normalize("NFKC"));
  return matches ? record?.epoch : undefined;
}

/** The epoch of the account's password; "" for none. */
export async function passwordEpoch(secrets: Secrets, accountId: string, now: Date): Promise<string> {
  return (await passwordOf(secrets, accountId, now))?.epoch ?? "";
}

/** Secret that holds an account's password hash. */
export function passwordSecret(accountId: string): string {
  return `password/${accountId}`;
}

async function passwordOf(
  secrets: Secrets,
  accountId: string,
  now: Date,
): Promise<PasswordRecord | undefined> {
  return (await secrets.get(passwordSecret(accountId), now)) as PasswordRecord | undefined;
}
