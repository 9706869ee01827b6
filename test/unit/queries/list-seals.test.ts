// The list of seals, page by page: each seal is judged as in the whole list.
import { afterEach, beforeEach, expect, it } from "vitest";
import { sealKeysOf } from "../../../src/audit/seals/seal-keys.ts";
import { type ListedSeal, listSeals } from "../../../src/queries/audit/list-seals.ts";
import { KEYS, LATER_KEYS } from "../../support/audit/keys.ts";
import { type OpenSealedLog, openSealedLog } from "../../support/audit/open-sealed-log.ts";

let log: OpenSealedLog;

beforeEach(async () => {
  log = await openSealedLog();
});
afterEach(() => log.close());

it.each([
  { trusted: [LATER_KEYS], keys: ["present", "present", "other", "other", "other"] },
  { trusted: [LATER_KEYS, KEYS], keys: ["present", "present", "previous", "previous", "previous"] },
])("trusts seals below a change of the key on every page: $keys", async ({ trusted, keys }) => {
  await sealed();
  const seals = await pages(trusted.map(({ publicKey }) => publicKey));
  expect(seals.map(({ number }) => number)).toEqual([4, 3, 2, 1, 0]);
  expect(seals.map(({ key }) => key)).toEqual(keys);
  expect(seals.map(({ problem }) => problem)).toEqual(Array(5).fill(null));
});

it("trusts none that is signed with somebody else's key, on any page", async () => {
  await sealed();
  const seals = await pages([sealKeysOf("a third secret key that is long enough to be one").publicKey]);
  expect(seals.map(({ problem }) => problem)).toEqual(Array(5).fill("is signed with another key"));
});

/** Three seals, a change of the key, and two more. */
async function sealed(): Promise<void> {
  for (const keys of [[KEYS], [KEYS], [KEYS], [LATER_KEYS, KEYS], [LATER_KEYS]] as const) {
    await log.click(1);
    await log.seal(keys);
  }
}

/** In pages of one, two and more, which must all say the same. */
async function pages(sealKeys: readonly string[]): Promise<ListedSeal[]> {
  const lists = await Promise.all([1, 2, 9].map((limit) => listed(sealKeys, limit)));
  const [first = []] = lists;
  for (const list of lists) expect(list).toEqual(first);
  return first;
}

async function listed(sealKeys: readonly string[], limit: number): Promise<ListedSeal[]> {
  const seals: ListedSeal[] = [];
  let before: number | undefined;
  do {
    const page = await listSeals({ ...log, sealKeys }, { limit, before });
    seals.push(...page.seals);
    before = page.next ?? undefined;
  } while (before !== undefined);
  return seals;
}
