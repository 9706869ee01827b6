// What bulk requests on links have in common: items that fail alone, and run side by side unless they touch the same thing.
import pLimit from "p-limit";
import type { z } from "zod";
import type { Tier } from "../../../events/vocabulary.ts";
import { DomainError } from "../../../runtime/errors.ts";
import { begunInSlices } from "../../../runtime/threads/time-slices.ts";
import type { AccountState } from "../../account/account.ts";
import { callersAccount } from "../../account/accounts.ts";
import { type Caller, requireDeveloper } from "../../caller.ts";
import { verifiedHosts } from "../../domains/domain.ts";
import { OUR_WORDS } from "../../issue-sentence.ts";
import { isClientError, Refused } from "../../refusals.ts";
import { type RequestedLink, urlsOf } from "../accept-fields.ts";
import { safetyOfAll } from "../accept-url.ts";
import type { CreateLinkDeps } from "../create-link.ts";

export type BulkDeps = CreateLinkDeps & {
  /** Logs that items failed by an error other than a refusal. */
  log?: { error: (details: object, message: string) => void } | undefined;
};

/** What the items of one request share: the account is loaded, and it is known whether their URLs are safe. */
export type BulkContext = { deps: BulkDeps; account: AccountState };

export type BulkKind<Item, Result, Name extends string> = {
  schema: z.ZodType<Item>;
  /** The text of the item by which an error names it. */
  named: Name;
  /** What is said of an error other than a refusal, which is logged. */
  failed: string;
  /** `keys`: items that share one run in their order, the others at once, so that their appends share a transaction. */
  prepare(
    item: Item,
    index: number,
    context: BulkContext,
  ): Promise<{ keys: readonly string[]; run: () => Promise<Result> }>;
};

/** `index`: the position in the request. `code`: the stable one of the error that the single request would get. */
type BulkError<Name extends string> = { index: number; error: string; code: string } & Record<Name, string>;

export type Bulk<Result, Name extends string> = {
  success: boolean;
  tier: Tier;
  total: number;
  failed: number;
  results: ({ index: number } & Result)[];
  errors: BulkError<Name>[];
};

/**
 * `items`: of any shape. `isFinal`: false when an item failed by an error other than a refusal: repeated, the request may do it.
 * @throws tier_required, account_not_found for a closed account; when nothing was done and an item failed by an error other
 * than a refusal, that error, such as StoreUnavailable, as for a single request
 */
export async function runBulk<Item extends RequestedLink, Result extends object, Name extends string>(
  deps: BulkDeps,
  by: Caller,
  items: readonly unknown[],
  { schema, named, failed, prepare }: BulkKind<Item, Result, Name>,
): Promise<{ bulk: Bulk<Result, Name>; isFinal: boolean }> {
  requireDeveloper(by.tier, "Bulk requests");
  const account = await callersAccount(deps, by);
  const parsed = await begunInSlices(items, async (item) => schema.safeParse(item, OUR_WORDS));
  const urls = parsed.flatMap(({ data }) => (data ? urlsOf(data) : []));
  const urlSafety = await safetyOfAll(deps, urls, verifiedHosts(account));
  // One password at a time: however many items a request has, others wait for one of them.
  const oneAtATime = pLimit(1);
  const passwordWork: typeof deps.passwordWork = {
    links: (work) => oneAtATime(() => deps.passwordWork.links(work)),
  };
  const context = { deps: { ...deps, urlSafety, passwordWork }, account };
  const results: ({ index: number } & Result)[] = [];
  const errors: BulkError<Name>[] = [];
  const failures: unknown[] = [];
  const attempt = async <T>(index: number, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      const isTheirs = isClientError(error);
      if (!isTheirs) failures.push(error);
      const code = error instanceof DomainError ? error.code : "internal_error";
      const name = { [named]: textOf(items[index], named) } as Record<Name, string>;
      errors.push({ index, ...name, error: isTheirs ? error.message : failed, code });
      return undefined;
    }
  };
  const prepared = await begunInSlices(parsed, (item, index) =>
    attempt(index, async () => prepare(acceptItem(item), index, context)),
  );
  await begunInSlices(groupsOf(prepared.map((item) => item?.keys ?? [])), async (group) => {
    for (const index of group) {
      const result = await attempt(index, async () => prepared[index]?.run());
      if (result) results.push({ index, ...result });
    }
  });
  if (results.length === 0 && failures.length > 0) throw failures[0];
  if (failures.length > 0) deps.log?.error({ err: failures[0], items: failures.length }, "bulk items failed");
  const bulk = {
    success: results.length > 0,
    tier: by.tier,
    total: items.length,
    failed: errors.length,
    results: results.sort((a, b) => a.index - b.index),
    errors: errors.sort((a, b) => a.index - b.index),
  };
  return { bulk, isFinal: failures.length === 0 };
}

/** The item by its schema. @throws invalid_item, which names the field */
export function acceptItem<T>({ success, data, error }: z.ZodSafeParseResult<T>): T {
  if (success) return data;
  const issue = error.issues[0];
  const field = issue?.path.join(".");
  const message = issue?.message ?? "not a link object";
  throw new Refused("invalid_item", `Invalid link: ${field ? `${field} ${message}` : message}`);
}

/** Empty where there is none. */
function textOf(item: unknown, member: string): string {
  const text = (item as Record<string, unknown> | null | undefined)?.[member];
  return typeof text === "string" ? text : "";
}

/** The indexes of items by the keys that they share, directly or through others. */
function groupsOf(keys: readonly (readonly string[])[]): number[][] {
  const groups: { keys: Set<string>; indexes: number[] }[] = [];
  for (const [index, own] of keys.entries()) {
    const joined = groups.filter((group) => own.some((key) => group.keys.has(key)));
    const merged = {
      keys: new Set([...own, ...joined.flatMap((group) => [...group.keys])]),
      indexes: [...joined.flatMap(({ indexes }) => indexes), index].sort((a, b) => a - b),
    };
    for (const group of joined) groups.splice(groups.indexOf(group), 1);
    groups.push(merged);
  }
  return groups.map(({ indexes }) => indexes);
}
