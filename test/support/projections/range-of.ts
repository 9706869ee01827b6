// Asks for the analytics of a link as the API does, with the engine in this thread.
import { currentAccounts } from "../../../src/commands/account/account-stream.ts";
import { clickQuestions } from "../../../src/queries/analytics/click-questions.ts";
import { type LinkNumbers, linkNumbers } from "../../../src/queries/analytics/link-numbers.ts";
import { parseRange, type RangeParameters } from "../../../src/queries/analytics/range.ts";
import { ownLink } from "../../../src/queries/links/find-link.ts";
import { ACCOUNT } from "../event-store/stored-events.ts";
import type { Stores } from "../runtime/stores.ts";

type Reading = Pick<Stores, "eventStore" | "readStore">;

/** Without parameters of its whole life. */
export type AskRange = (given: RangeParameters | undefined, slug?: string) => Promise<LinkNumbers>;

/** Of links of ACCOUNT on `sho.rt`. */
export function rangesOf(stores: Reading, now: Date): AskRange {
  const ask = numbersOf(stores);
  return async (given, slug = "abc") => {
    const currentAccount = currentAccounts(stores.eventStore).current;
    const reading = { ...stores, baseHost: "sho.rt", currentAccount };
    const link = await ownLink(reading, { accountId: ACCOUNT }, { slug });
    const range = given && parseRange(given);
    const sent = range && { ...range, zone: range.zone.name };
    return await ask(link, sent, now.getTime(), new AbortController().signal);
  };
}

export function numbersOf(stores: Reading, sleep: (ms: number) => Promise<void> = async () => undefined) {
  return linkNumbers({ ...stores, sleep, questions: clickQuestions(stores) });
}
