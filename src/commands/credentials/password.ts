// Passwords of people in the portal: argon2id, kept among the secrets beside the account, never in an event.
import { hash, verify } from "@node-rs/argon2";
import type { EventStore } from "../../event-store/port.ts";
import type { Secrets } from "../../secrets/port.ts";
import { PasswordRefused } from "../account/account-errors.ts";
import { keepOfOpenAccount } from "../account/account-stream.ts";
import { isCommonPassword } from "./common-passwords.ts";
import { normalEmail } from "./email-address.ts";

/** `epoch` changes with every new password; sessions and reset links of an older one are void. */
type PasswordRecord = { hash: string; epoch: string };

export const PASSWORD_MIN = 10;
/** Beyond this, hashing would be work for nothing. */
const PASSWORD_MAX = 512;
/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Of a password nobody knows: verifying against it takes as long as against a real one. */
const NOBODY =
  "$argon2id$v=19$m=19456,t=2,p=1$e5kx462mJpWIBADOTL6QeQ$NBgfWzzho/HGMkHulALrD9JAcnsY3el4SL9ZUg1tj00";

/** No rules of composition (NIST 800-63B): long enough, and not one that everyone tries first. @throws PasswordRefused */
export function acceptPassword(given: string, about: { email: string }): string {
  const password = given.normalize("NFKC");
  if ([...password].length < PASSWORD_MIN)
    throw new PasswordRefused(`Choose a password of at least ${PASSWORD_MIN} characters`);
  if (password.length > PASSWORD_MAX)
    throw new PasswordRefused(`Choose a password of at most ${PASSWORD_MAX} characters`);
  const email = normalEmail(about.email);
  if (isCommonPassword(password) || [email, email.split("@")[0]].includes(password.toLowerCase()))
    throw new PasswordRefused("This password is among the first that anyone would try; choose another one");
  return password;
}

export function hashPassword(accepted: string): Promise<string> {
  return hash(accepted, COST);
}

/** Keeps a hash of hashPassword as the account's password from now on; answers its epoch. @throws AccountNotFound */
export async function keepPassword(
  deps: { eventStore: EventStore; secrets: Secrets; newId: () => string },
  accountId: string,
  passwordHash: string,
): Promise<string> {
  const key = passwordSecret(accountId);
  const record: PasswordRecord = { hash: passwordHash, epoch: deps.newId() };
  const change = () => deps.secrets.put(key, { value: record });
  await keepOfOpenAccount(deps, accountId, change, () => deps.secrets.delete(key));
  return record.epoch;
}

/**
 * The epoch of the account's password when that is what was given, else undefined. Takes the same time for an account
 * that isn't there or has no password.
 */
export async function verifyPassword(
  deps: { secrets: Secrets; clock: () => Date },
  accountId: string | undefined,
  given: string,
): Promise<string | undefined> {
  const record =
    accountId === undefined ? undefined : await passwordOf(deps.secrets, accountId, deps.clock());
  const matches = await verify(record?.hash ?? NOBODY, given.slice(0, PASSWORD_MAX).normalize("NFKC"));
  return matches ? record?.epoch : undefined;
}

/** Which password the account has, told by when it was set; "" for none. */
export async function passwordEpoch(secrets: Secrets, accountId: string, now: Date): Promise<string> {
  return (await passwordOf(secrets, accountId, now))?.epoch ?? "";
}

/** Where an account's password hash is kept among the secrets. */
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
