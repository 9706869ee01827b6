// Decider and use cases of the filters of the list of links that an account keeps under names. What they name is not looked
// up: a filter may outlive its tag, domain or key.
import type { SavedFilter } from "../../events/accounts/account-events.ts";
import type { AccountEvent } from "../../events/catalogue.ts";
import { cleanText } from "../../events/classification/clean-text.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { STREAM_LIMITS } from "../../events/vocabulary.ts";
import { boundedText } from "../accept-text.ts";
import { type AccountState, opened, withRoom } from "../account/account.ts";
import { accountCommand, type CurrentAccount, changeAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { Refused } from "../refusals.ts";

export const FILTER_NAME_LENGTH = 50;
/** Of the words that are searched for. */
const SEARCH_LENGTH = 200;

/** As requests and addresses have it: parameters of GET /api/v1/links. */
export type FilterQuery = Omit<SavedFilter, "domainId" | "madeBy"> & {
  domain_id?: string | undefined;
  made_by?: string | undefined;
};

export const FILTER_PARAMETERS = [
  "q",
  "tag",
  "status",
  "domain_id",
  "made_by",
  "from",
  "to",
] as const satisfies (keyof FilterQuery)[];

type NamedFilter = { name: string; filter: SavedFilter };

/** What is kept already changes nothing. @throws account_not_found, history_full */
export function saveFilter(account: AccountState, c: NamedFilter & { at: string }): AccountEvent[] {
  const { accountId, savedFilters } = withRoom(account);
  const { name, filter, at } = c;
  const saved = savedFilters.get(name);
  if (saved && JSON.stringify(saved) === JSON.stringify(filter)) return [];
  if (!saved && savedFilters.size >= STREAM_LIMITS.savedFilters)
    throw new Refused(
      "history_full",
      `At most ${STREAM_LIMITS.savedFilters} filters are kept: remove another one first`,
    );
  return [{ type: "FilterSaved", data: { accountId, name, filter, at } }];
}

/** @throws account_not_found, filter_not_found */
export function removeFilter(account: AccountState, c: { name: string; at: string }): AccountEvent[] {
  const { accountId, savedFilters } = opened(account);
  if (!savedFilters.has(c.name)) throw new Refused("filter_not_found");
  return [{ type: "FilterSaved", data: { accountId, name: c.name, filter: null, at: c.at } }];
}

/** A filter of the same name is replaced. @throws invalid_request, account_not_found, history_full */
export async function keepFilter(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  { name: typed, ...query }: FilterQuery & { name: string },
): Promise<Appended & NamedFilter> {
  const name = boundedText(typed, FILTER_NAME_LENGTH);
  const refuse = (why: string, field: string) => {
    throw new Refused("invalid_request", why, { field });
  };
  if (name === "") refuse(`A filter's name must have 1 to ${FILTER_NAME_LENGTH} characters`, "name");
  if ((query.tag ?? "").length > OPTION_LIMITS.tag)
    refuse(`A tag has at most ${OPTION_LIMITS.tag} characters`, "tag");
  const filter = filterOfQuery(query);
  if (Object.keys(filter).length === 0) refuse("A filter must filter by something", "name");
  const change = (account: AccountState, at: string) => saveFilter(account, { name, filter, at });
  return { ...(await changeAccount(deps, context, accountId, change)), name, filter };
}

/** @throws account_not_found, filter_not_found */
export const forgetFilter = accountCommand((account, { at }, name: string) =>
  removeFilter(account, { name, at }),
);

/** By name, as of now. @throws account_not_found */
export async function savedFiltersOf(
  { currentAccount }: { currentAccount: CurrentAccount },
  accountId: string,
): Promise<ReadonlyMap<string, SavedFilter>> {
  return opened(await currentAccount(accountId)).savedFilters;
}

/** The parameters of a request for what it shows. */
export function queryOfFilter({ domainId, madeBy, from, to, ...filter }: SavedFilter): FilterQuery {
  return withoutEmpty({ ...filter, domain_id: domainId, made_by: madeBy, from, to });
}

function filterOfQuery({ domain_id: domainId, made_by: madeBy, ...query }: FilterQuery): SavedFilter {
  const { tag, status, from, to } = query;
  return withoutEmpty({
    q: cleanText(query.q ?? "", SEARCH_LENGTH),
    tag,
    status,
    domainId,
    madeBy,
    from,
    to,
  });
}

/** What filters nothing is left out. */
function withoutEmpty<T extends object>(filter: T): T {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value)) as T;
}
