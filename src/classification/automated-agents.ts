// Detects user agents of programs rather than browsers: isbot's list, and clients that isbot is known to miss.
import { isbot } from "isbot";

/** HTTP clients that isbot does not detect; a test fails when isbot detects one of them by itself. */
export const MISSED_BY_ISBOT: readonly RegExp[] = [
  /^dart\//i,
  /^dalvik\//i,
  /\bcfnetwork\//i,
  /powershell\//i,
  /\bsiege\//i,
];

const missed = new RegExp(MISSED_BY_ISBOT.map(({ source }) => source).join("|"), "i");

/** An empty user agent counts as automated: browsers always send one. */
export function isAutomated(userAgent: string): boolean {
  return userAgent === "" || isbot(userAgent) || missed.test(userAgent);
}
