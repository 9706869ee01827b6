// What bulk requests have in common: items that fail alone, and run side by side unless they touch the same thing.
import type { z } from "zod";
import { DomainError } from "../../runtime/errors.ts";
import { isClientError, Refused } from "../../runtime/refused.ts";

/** `code`: the stable one of the error that the single request would get. */
export type BulkError = { index: number; error: string; code: string };

type BulkRun<R> = {
  results: ({ index: number } & R)[];
  errors: BulkError[];
  /** False when an item failed by an error other than a refusal: repeated, the request may do it. */
  isFinal: boolean;
};

type Log = { error: (details: object, message: string) => void };

/**
 * Runs each item; those that share a key run in their order, the others at once, so that their appends share a
 * transaction. `failed`: what is said of an error other than a refusal, which is logged.
 * @throws when nothing was done and an item failed by an error other than a refusal, that error, such as
 * StoreUnavailable, as for a single request
 */
export async function runBulk<R extends object>(
  { log }: { log?: Log | undefined },
  keys: readonly (readonly string[])[],
  failed: string,
  run: (index: number) => Promise<R>,
): Promise<BulkRun<R>> {
  const results: ({ index: number } & R)[] = [];
  const errors: BulkError[] = [];
  const failures: unknown[] = [];
  const runItem = async (index: number): Promise<void> => {
    try {
      results.push({ index, ...(await run(index)) });
    } catch (error) {
      const isTheirs = isClientError(error);
      if (!isTheirs) failures.push(error);
      const code = error instanceof DomainError ? error.code : "internal_error";
      errors.push({ index, error: isTheirs ? error.message : failed, code });
    }
  };
  await Promise.all(
    groupsOf(keys).map(async (group) => {
      for (const index of group) await runItem(index);
    }),
  );
  if (results.length === 0 && failures.length > 0) throw failures[0];
  if (failures.length > 0) log?.error({ err: failures[0], items: failures.length }, "bulk items failed");
  results.sort((a, b) => a.index - b.index);
  errors.sort((a, b) => a.index - b.index);
  return { results, errors, isFinal: failures.length === 0 };
}

/** The item by its schema. @throws invalid_item, which names the field */
export function acceptItem<T>({ success, data, error }: z.ZodSafeParseResult<T>): T {
  if (success) return data;
  const issue = error.issues[0];
  const field = issue?.path.join(".");
  const message = issue?.message ?? "not a link object";
  throw new Refused("invalid_item", `Invalid link: ${field ? `${field} ${message}` : message}`);
}

/** The indexes of items by the keys that they share, directly or through others. */
function groupsOf(keys: readonly (readonly string[])[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [index, own] of keys.entries()) {
    const all = [...own, `item ${index}`];
    const joined = new Set(all.flatMap((key) => groups.get(key) ?? []));
    const group = [...joined, index].sort((a, b) => a - b);
    for (const key of [...all, ...[...joined].flatMap((other) => keys[other] ?? []), ...itemKeys(joined)])
      groups.set(key, group);
  }
  return [...new Set(groups.values())];
}

function itemKeys(indexes: Iterable<number>): string[] {
  return [...indexes].map((index) => `item ${index}`);
}
