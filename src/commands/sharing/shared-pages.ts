// Pages of an account's numbers for whoever has their address: made, found by the token in it, ended. The log and the secrets
// have only the token's SHA-256, so the address is shown once; with an Idempotency-Key again for as long as that is kept.
import { hash, randomBytes } from "node:crypto";
import { SHARED_CARDS, SHARED_RANGES, type SharedCard } from "../../events/accounts/sharing-events.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { hasDeveloperFeatures } from "../../events/vocabulary.ts";
import { isTimeZone, noTimeZone, parseDate, parseMoment } from "../../runtime/moment.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { boundedText } from "../accept-text.ts";
import { opened, type SharedPage } from "../account/account.ts";
import { type CurrentAccount, changeAccount, loadAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { LEAST_OF_PASSWORD } from "../links/fields/link-fields.ts";
import { forgetPassword, type KeepPasswordDeps, keepLinkPassword } from "../links/link-password.ts";
import { isClientError, Refused } from "../refusals.ts";
import { endPage, makePage } from "./decide-sharing.ts";

/** By field, the values of which a click has one; as the engine of numbers has accepted them. */
export type SharedFilters = Readonly<Record<string, readonly string[] | undefined>>;

/** Dates: YYYY-MM-DD. `endsAt`: a date or a time. Empty texts are none. */
export type SharedPageRequest = {
  name: string;
  filters: SharedFilters;
  range: string;
  from?: string | undefined;
  to?: string | undefined;
  timeZone: string;
  cards: readonly string[];
  password?: string | undefined;
  endsAt?: string | undefined;
};

type Deps = CommandDeps & KeepPasswordDeps & { secrets: Secrets };

export const SHARED_NAME_MAX = 100;
/** As JSON: each event of an account is read with all others. */
const MOST_OF_FILTERS = 4_096;
const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Whose page an address is: `{ accountId, pageId }`, by the SHA-256 of its token. */
const sharedPageSecret = (tokenHash: string) => `shared-page/${tokenHash}`;

/** A page that is to be made, and the token of its address. */
export type PlannedPage = { page: SharedPage; token: string };

/** @throws invalid_request, invalid_time_zone */
export function planSharedPage(
  deps: Pick<CommandDeps, "clock" | "newId">,
  { password = "", ...typed }: SharedPageRequest,
): PlannedPage {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const at = deps.clock().toISOString();
  const passwordId = acceptPassword(password) ? deps.newId() : undefined;
  const page: SharedPage = {
    ...acceptPage(typed, at),
    ...(passwordId && { passwordId }),
    pageId: deps.newId(),
    tokenHash: hash("sha256", token),
    at,
  };
  return { page, token };
}

/**
 * `path` of the answer holds the token, which is not stored and can't be shown again. `planned`: of the same request, which is
 * made once however often it is repeated.
 * @throws invalid_request, invalid_time_zone, account_not_found, tier_required, sharing_limit_reached, history_full, too_busy
 */
export async function makeSharedPage(
  deps: Deps,
  context: CommandContext,
  accountId: string,
  request: SharedPageRequest,
  { page, token }: PlannedPage = planSharedPage(deps, request),
): Promise<Appended & { page: SharedPage; path: string }> {
  const { password = "" } = request;
  const { pageId, tokenHash, passwordId } = page;
  // First, as hashing a password is work.
  makePage(await loadAccount(deps.eventStore, accountId), page);
  try {
    if (passwordId) await keepLinkPassword(deps, { passwordId, text: password });
    await deps.secrets.put(sharedPageSecret(tokenHash), { value: { accountId, pageId } });
    const { position } = await changeAccount(deps, context, accountId, (account) => makePage(account, page));
    return { page, position, path: sharedPath(token) };
  } catch (error) {
    // After any other error the append's outcome is unknown: the event may be in the log.
    if (isClientError(error)) await forgetSharedPage(deps, page);
    throw error;
  }
}

/** For good. @throws account_not_found, shared_page_not_found */
export async function endSharedPage(
  deps: Deps,
  context: CommandContext,
  accountId: string,
  pageId: string,
): Promise<Appended> {
  const page = opened(await loadAccount(deps.eventStore, accountId)).sharedPages.get(pageId);
  const ended = await changeAccount(deps, context, accountId, (account, at) =>
    endPage(account, { pageId, at }),
  );
  if (page) await forgetSharedPage(deps, page);
  return ended;
}

/** Its address leads nowhere, and its password is no more. */
export async function forgetSharedPage(
  deps: { secrets: Pick<Secrets, "delete"> },
  { tokenHash, passwordId }: Pick<SharedPage, "tokenHash" | "passwordId">,
): Promise<void> {
  await deps.secrets.delete(sharedPageSecret(tokenHash));
  await forgetPassword(deps, passwordId);
}

function sharedPath(token: string): string {
  return `/shared/${token}`;
}

type FindDeps = { secrets: Pick<Secrets, "get">; currentAccount: CurrentAccount; clock: () => Date };

/**
 * Undefined for a page that was ended, is over or never was, and of an account that is closed or on the Free plan, which has
 * no ranges of time: another one than the page's would be shown. @throws StoreUnavailable
 */
export async function findSharedPage(deps: FindDeps, token: string) {
  if (!TOKEN.test(token)) return undefined;
  const tokenHash = hash("sha256", token);
  const now = deps.clock();
  const of = (await deps.secrets.get(sharedPageSecret(tokenHash), now)) as
    | { accountId: string; pageId: string }
    | undefined;
  const account = of && (await deps.currentAccount(of.accountId));
  if (account?.status !== "open" || !hasDeveloperFeatures(account.tier)) return undefined;
  const page = account.sharedPages.get(of?.pageId ?? "");
  if (page?.tokenHash !== tokenHash || isOver(page, now)) return undefined;
  return { page, accountId: account.accountId, tier: account.tier };
}

/** Whether its end has come. */
export function isOver({ endsAt }: Pick<SharedPage, "endsAt">, now: Date): boolean {
  return endsAt !== undefined && endsAt <= now.toISOString();
}

function acceptPage(
  { name, filters, range: named, from, to, timeZone, cards, endsAt }: Omit<SharedPageRequest, "password">,
  at: string,
): Omit<SharedPage, "pageId" | "tokenHash" | "at" | "passwordId"> {
  const range = SHARED_RANGES.find((name) => name === named);
  if (!range) throw invalid("range", `range must be one of ${SHARED_RANGES.join(", ")}`);
  if (!isTimeZone(timeZone)) throw new Refused("invalid_time_zone", noTimeZone(timeZone));
  const days = range === "custom" ? { from: dayOf("from", from), to: dayOf("to", to) } : {};
  if (days.from && days.to && days.from > days.to) throw invalid("to", "to must not be before from");
  const end = endsAt ? parseMoment(endsAt)?.toISOString() : undefined;
  if (endsAt && end === undefined) throw invalid("ends_at", "ends_at must be a date or a time, ISO 8601");
  if (end !== undefined && end <= at) throw invalid("ends_at", "ends_at must be in the future");
  return {
    name: acceptSharedName(name),
    filters: plainFilters(filters),
    range,
    ...(days.from && { from: days.from }),
    ...(days.to && { to: days.to }),
    timeZone,
    cards: acceptCards(cards),
    ...(end && { endsAt: end }),
  };
}

/** @throws invalid_request */
export function acceptSharedName(text: string): string {
  const name = boundedText(text, SHARED_NAME_MAX);
  if (name === "") throw invalid("name", `name must have 1 to ${SHARED_NAME_MAX} characters`);
  return name;
}

/** Without fields that have no value. @throws invalid_request */
export function plainFilters(filters: SharedFilters): Record<string, string[]> {
  const filled = Object.entries(filters).filter(([, values]) => values !== undefined && values.length > 0);
  const plain = Object.fromEntries(filled.map(([field, values]) => [field, [...(values ?? [])]]));
  if (JSON.stringify(plain).length <= MOST_OF_FILTERS) return plain;
  throw invalid("filters", `filters must have at most ${MOST_OF_FILTERS} characters together`);
}

function acceptCards(cards: readonly string[]): SharedCard[] {
  const unknown = cards.find((card) => !(SHARED_CARDS as readonly string[]).includes(card));
  if (unknown !== undefined) throw invalid("cards", `cards must be of ${SHARED_CARDS.join(", ")}`);
  return SHARED_CARDS.filter((card) => cards.includes(card));
}

function dayOf(field: "from" | "to", text = ""): string | undefined {
  if (text === "") return undefined;
  if (parseDate(text) !== undefined) return text;
  throw invalid(field, `${field} must be a date such as 2026-11-01`);
}

/** Whether there is one. @throws invalid_request */
function acceptPassword(password: string): boolean {
  const length = [...password].length;
  if (length === 0) return false;
  if (length >= LEAST_OF_PASSWORD && length <= OPTION_LIMITS.password) return true;
  throw invalid(
    "password",
    `password must have ${LEAST_OF_PASSWORD} to ${OPTION_LIMITS.password} characters`,
  );
}

function invalid(field: string, message: string): Refused {
  return new Refused("invalid_request", message, { field });
}
