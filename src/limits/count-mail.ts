// How often somebody is mailed at another one's wish, whoever asks for it.
import { personByEmailSecret } from "../commands/people/secrets.ts";
import { type CountDeps, countTry } from "./rate-limit.ts";

/** An hour and recipient. */
const MAILS_AN_HOUR = 5;

/** @throws rate_limit_exceeded */
export async function countMail(deps: CountDeps, email: string): Promise<void> {
  await countTry(deps, `mail ${personByEmailSecret(email)}`, MAILS_AN_HOUR);
}
