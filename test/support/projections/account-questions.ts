// Asks about the clicks of an account as the reader thread does, in this thread.
import { CLICK_KINDS } from "../../../src/events/vocabulary.ts";
import { accountQuestions, clickQuestions } from "../../../src/queries/analytics/click-questions.ts";
import type { AccountAnswer, AccountQuestion } from "../../../src/queries/analytics/question.ts";
import { ACCOUNT } from "../event-store/stored-events.ts";
import type { Stores } from "../runtime/stores.ts";

export type AskAccountOf = (asked: Partial<AccountQuestion>, signal?: AbortSignal) => Promise<AccountAnswer>;

/** Of ACCOUNT, in UTC, by default. `mostRead`: rows that are counted for a question. */
export function accountQuestionsOf(stores: Stores, now: Date, mostRead?: number): AskAccountOf {
  const questions = clickQuestions({ ...stores, ...(mostRead !== undefined && { mostRead }) });
  const ask = accountQuestions(questions, stores.readStore);
  const common = { accountId: ACCOUNT, now: now.getTime(), zone: "UTC", kinds: CLICK_KINDS, limit: 10 };
  return (asked, signal) => ask({ ...common, groupBy: [], filters: {}, ...asked }, signal);
}
