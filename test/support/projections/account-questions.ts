// Asks about the clicks of an account as the reader thread does, in this thread.
import { CLICK_KINDS } from "../../../src/events/vocabulary.ts";
import { accountQuestions } from "../../../src/queries/analytics/account/answer-question.ts";
import type { AccountAnswer, AccountQuestion } from "../../../src/queries/analytics/account/question.ts";
import { ACCOUNT } from "../event-store/stored-events.ts";
import type { Stores } from "../runtime/stores.ts";

export type AskAccountOf = (asked: Partial<AccountQuestion>, signal?: AbortSignal) => Promise<AccountAnswer>;

/** Of ACCOUNT, in UTC, by default. `fewClicks`: 0 asks the documents whatever they know. */
export function accountQuestionsOf(stores: Stores, now: Date, fewClicks?: number): AskAccountOf {
  const ask = accountQuestions({
    ...stores,
    ...(fewClicks !== undefined && { fewClicks }),
  });
  const common = { accountId: ACCOUNT, now: now.getTime(), zone: "UTC", kinds: CLICK_KINDS, limit: 10 };
  return (asked, signal) => ask({ ...common, groupBy: [], filters: {}, ...asked }, signal);
}
