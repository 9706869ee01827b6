// The same work on many links, each by a command of its own: one that fails by itself stops no other, and what was ended
// in between is repeated, as what is done already changes nothing.

import { inSlices } from "../../../runtime/threads/time-slices.ts";
import { isClientError } from "../../refusals.ts";

/** Both in the order of the items. `failures`: of those that failed by themselves. */
export type EachOutcome<Item, Result> = {
  results: { item: Item; index: number; result: Result }[];
  failures: { item: Item; index: number; error: unknown }[];
};

/**
 * `keysOf`: items that share one, directly or through others, are worked at in their order. `atOnce`: how many of the others are
 * begun together. `failsAlone`: whether an error is the item's own, by default a refusal that is the client's.
 */
type EachOptions<Item> = {
  keysOf?: (item: Item) => readonly string[];
  atOnce?: number;
  failsAlone?: (error: unknown) => boolean;
};

/** @throws the first error that is no item's own: those in flight are waited for, and no other is begun */
export async function onEachLink<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
  { keysOf, atOnce, failsAlone = isClientError }: EachOptions<Item> = {},
): Promise<EachOutcome<Item, Result>> {
  const outcome: EachOutcome<Item, Result> = { results: [], failures: [] };
  const fatal: unknown[] = [];
  const groups = keysOf ? groupsOf(items.map(keysOf)) : items.map((_, index) => [index]);
  const workAt = async (group: readonly number[]) => {
    for (const index of group) {
      if (fatal.length > 0) return;
      const item = items[index] as Item;
      try {
        outcome.results.push({ item, index, result: await work(item, index) });
      } catch (error) {
        if (failsAlone(error)) outcome.failures.push({ item, index, error });
        else fatal.push(error);
      }
    }
  };
  await inSlices(groups, workAt, atOnce);
  if (fatal.length > 0) throw fatal[0];
  for (const part of [outcome.results, outcome.failures]) part.sort((a, b) => a.index - b.index);
  return outcome;
}

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
