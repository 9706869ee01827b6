// Portal passwords: argon2id hashes, stored in the secrets and never in an event.
import { hash, verify } from "@node-rs/argon2";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { PASSWORD_COST } from "../password-work.ts";
import { Refused } from "../refusals.ts";
import { personWithEmail } from "./email.ts";
import { recordAct, writeForPerson } from "./person-stream.ts";
import { emailSecret, normalEmail, passwordSecret } from "./secrets.ts";

type Deps = { secrets: Secrets; clock: () => Date };
export type PasswordDeps = CommandDeps & { secrets: Secrets };

/** `epoch` is new with every password; sessions and reset links of an older epoch are void. */
type PasswordRecord = { hash: string; epoch: string };

export const PASSWORD_MIN = 10;
/** Bounds the cost of hashing. */
const PASSWORD_MAX = 512;
/** Verified against when there is no password, so that the answer takes the same time. */
const DUMMY_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$e5kx462mJpWIBADOTL6QeQ$NBgfWzzho/HGMkHulALrD9JAcnsY3el4SL9ZUg1tj00";

/** NIST SP 800-63B: a minimum length and a block list, no composition rules. @throws password_refused */
export function acceptPassword(text: string, about: { email: string }): string {
  const password = text.normalize("NFKC");
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

/** `accepted`: by `acceptPassword`. */
export function hashPassword(accepted: string): Promise<string> {
  return hash(accepted, PASSWORD_COST);
}

/** What is stored of a password, with a new epoch. */
export function newPassword({ newId }: { newId: () => string }, passwordHash: string): PasswordRecord {
  return { hash: passwordHash, epoch: newId() };
}

/**
 * Stores a hash of `hashPassword` as the person's password and returns its epoch. Recorded first: nobody has a password that
 * the log doesn't know of. @throws person_not_found
 */
export async function keepPassword(
  deps: PasswordDeps,
  context: CommandContext,
  personId: string,
  { how, passwordHash }: { how: "known" | "link" | "signed-in"; passwordHash: string },
): Promise<string> {
  const key = passwordSecret(personId);
  const record = newPassword(deps, passwordHash);
  await recordAct(deps, context, personId, "PasswordChanged", { how });
  const change = () => deps.secrets.put(key, { value: record });
  await writeForPerson(deps, personId, change, () => deps.secrets.delete(key));
  return record.epoch;
}

/** The password's epoch if it is the person's. Takes the same time for an unknown one and for one without a password. */
async function verifyPassword(
  { secrets, clock }: Deps,
  personId: string | undefined,
  password: string,
): Promise<string | undefined> {
  const record = personId === undefined ? undefined : await passwordOf(secrets, personId, clock());
  const matches = await verify(record?.hash ?? DUMMY_HASH, password.slice(0, PASSWORD_MAX).normalize("NFKC"));
  return matches ? record?.epoch : undefined;
}

/** The epoch of the person's password; "" for none. */
export async function passwordEpoch(secrets: Secrets, personId: string, now: Date): Promise<string> {
  return (await passwordOf(secrets, personId, now))?.epoch ?? "";
}

async function passwordOf(
  secrets: Secrets,
  personId: string,
  now: Date,
): Promise<PasswordRecord | undefined> {
  return (await secrets.get(passwordSecret(personId), now)) as PasswordRecord | undefined;
}

/**
 * At sign-in. One refusal, which takes the same time for an unknown address and a wrong password: no enumeration.
 * `epoch`: the password's. @throws wrong_credentials also for who has no password, or was removed
 */
export async function checkCredentials(
  deps: Deps,
  credentials: { email: string; password: string },
): Promise<{ personId: string; epoch: string }> {
  const personId = (await personWithEmail(deps, credentials.email))?.personId;
  const epoch = await verifyPassword(deps, personId, credentials.password);
  if (!personId || epoch === undefined) throw new Refused("wrong_credentials");
  return { personId, epoch };
}

/**
 * Of who has proven to be the person (`how`). Returns the new password's epoch: sessions of the old one's are void from then on.
 * @throws password_refused, person_not_found
 */
export async function changePassword(
  deps: PasswordDeps,
  context: CommandContext,
  personId: string,
  { how, wanted }: { how: "known" | "signed-in"; wanted: string },
): Promise<{ epoch: string }> {
  const email = String((await deps.secrets.get(emailSecret(personId), deps.clock())) ?? "");
  const passwordHash = await hashPassword(acceptPassword(wanted, { email }));
  return { epoch: await keepPassword(deps, context, personId, { how, passwordHash }) };
}

/** Re-authentication before irreversible changes and changes of credentials. @throws wrong_current_password */
export async function provePassword(deps: Deps, personId: string, password: string): Promise<void> {
  if ((await verifyPassword(deps, personId, password)) === undefined)
    throw new Refused("wrong_current_password");
}

/** The most frequent ones of ten or more characters in lists of leaked passwords; shorter ones are refused anyway. */
const COMMON = new Set(
  `1234567890 12345678910 0123456789 0987654321 1q2w3e4r5t 1q2w3e4r5t6y qwertyuiop qwerty12345 qwerty123456 qwertyuiop123
  1qaz2wsx3edc qazwsxedcrfv zaq12wsxcde3 asdfghjkl1 asdfghjkl123 zxcvbnm123 password12 password123 password1234 password12345
  password123456 passw0rd123 p@ssw0rd123 p@ssword123 p@ssw0rd1234 passwordpassword mypassword mypassword1 mypassword123
  iloveyou123 iloveyou1234 iloveyou12345 loveyou123 football123 baseball123 basketball superman123 spiderman123 batman12345
  sunshine123 princess123 princess12 michael123 jennifer123 charlie123 letmein123 letmein1234 letmein12345 welcome123
  welcome1234 welcome12345 administrator administrator1 admin12345 admin123456 adminadmin changeme123 changeme1234 default123
  linkledger linkledger1 linkledger123 computer123 internet123 trustno1trustno1 dragon12345 monkey12345 abcdefghij abcdefghijk
  abc1234567 abcd123456 abcd1234567 a1b2c3d4e5 aa12345678 aa123456789 q1w2e3r4t5 q1w2e3r4t5y6 secret1234 secret12345 test123456
  testtest123 testtesttest qwe1234567 123qweasdzxc 123456789a 123456789q 123123123a 1122334455 1111122222 1020304050 9876543210
  correcthorsebatterystaple whatever123 starwars123 pokemon123 liverpool123 chelsea123 arsenal123 manchester jordan2323`.split(
    /\s+/,
  ),
);

/** Ignores case. Also refuses at most two distinct characters, and runs of consecutive digits or letters. */
function isCommonPassword(password: string): boolean {
  const plain = password.toLowerCase();
  return COMMON.has(plain) || new Set(plain).size <= 2 || isRun(plain);
}

/** Such as 23456789012 or zyxwvutsrq: consecutive in either direction, wrapping around. */
function isRun(text: string): boolean {
  return ["0123456789", "abcdefghijklmnopqrstuvwxyz"].some((row) => {
    const forwards = row.repeat(Math.ceil(text.length / row.length) + 1);
    return forwards.includes(text) || [...forwards].reverse().join("").includes(text);
  });
}
