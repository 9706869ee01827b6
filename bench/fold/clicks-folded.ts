// How many clicks the documents hold so far, from one document.
import type { Backend } from "../../src/backend.ts";
import {
  type AccountTotalsDocument,
  accountTotals,
} from "../../src/projections/definitions/account-totals.ts";

/** Of the account that all links of a benchmark belong to. */
export async function clicksFolded(
  { readStore }: Pick<Backend, "readStore">,
  accountId: string,
): Promise<number> {
  const totals = await readStore.get<AccountTotalsDocument>(accountTotals.collection.name, accountId);
  return totals ? totals.click + totals.preview + totals.qr_scan : 0;
}
