// What is read from the log for the event feed, exports and ranges: parsed and filtered in a thread of its own, so that only
// the results cross to the HTTP thread, one part at a time with backpressure.

import type { VerifyInThread } from "../../audit/verification-runs.ts";
import type { FindMatching } from "../../commands/withdrawals/decide-withdrawal.ts";
import type { EventType } from "../../events/catalogue.ts";
import type { Position } from "../../stores/event-store/port.ts";
import type { ChangesOfNumbers, ChangesRequest } from "../analytics/changes/changes-of-numbers.ts";
import type { AskLink } from "../analytics/link-numbers.ts";
import type { AccountAnswer, AccountQuestion, ClickListQuestion } from "../analytics/question.ts";
import type { LatestClick } from "../analytics/recent-clicks.ts";
import type { ClickSearch, FoundClicks } from "../audit/find-clicks.ts";
import type { FeedRequest } from "../feed/account-events.ts";
import type { FeedForm } from "../feed/feed-event.ts";

export const CLICK_FORMATS = ["csv", "ndjson"] as const;
/** `spreadsheet`: CSV that is guarded (transfer/csv-cells.ts). */
export type ClickFormat = (typeof CLICK_FORMATS)[number] | "spreadsheet";

export const TABLE_FORMATS = [...CLICK_FORMATS, "parquet"] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number] | "spreadsheet";

/** `columns`: those of one link's clicks, or with those that tell links apart. */
export type ClickFileForm = { format: TableFormat; columns: "of link" | "of account" };

/** Where a page of clicks begins: behind `after`, in the log as of `upTo`. */
export type ClickPlace = { after: Position; upTo: Position };

/** `clicks`: the cells of each, by the names of the export's columns. `next`: null on the last page. */
export type ClickPage = { clicks: Record<string, string>[]; next: ClickPlace | null };

/** `events`: of the form that was asked for, as JSON; otherwise as FeedPage. */
type FeedText = { events: string[]; next: Position; more: boolean };

/** `events`: each as JSON, with its position; otherwise as LiveEventBatch. */
export type FeedBatch = { events: { position: Position; json: string }[]; position: Position };

/**
 * Each generator ends when its signal aborts, and each question with its reason: those of a request with its client. All methods
 * throw StoreUnavailable, EventNewer at an event of a newer program, or invalid_position where the store refuses the caller's.
 */
export type LogReader = {
  /** accountFeed, in the thread. */
  feed(accountId: string, request: FeedRequest, form: FeedForm): Promise<FeedText>;
  /**
   * LiveEvents.follow for the account's events of the types; all types when there are none. Without `after` it begins
   * with AccountOpened.
   */
  followAccount(
    accountId: string,
    after: Position | undefined,
    types: readonly EventType[],
    form: FeedForm,
    signal: AbortSignal,
  ): AsyncGenerator<FeedBatch>;
  /** exportLink, in the thread. `link`: its key. */
  exportProof(link: string, signal: AbortSignal): AsyncGenerator<string>;
  /** The account's events as JSON Lines. */
  exportAccount(accountId: string, signal: AbortSignal): AsyncGenerator<string>;
  /** accountQuestions, in the thread. */
  askAccount(question: AccountQuestion, signal: AbortSignal): Promise<AccountAnswer>;
  /** linkNumbers, in the thread. */
  linkNumbers: AskLink;
  /** ClickQuestions.latestOf, in the thread. */
  latestClicks(question: ClickListQuestion, limit: number, signal: AbortSignal): Promise<LatestClick[]>;
  /** clickPage, in the thread. */
  clickPage(
    question: ClickListQuestion,
    place: ClickPlace | undefined,
    limit: number,
    signal: AbortSignal,
  ): Promise<ClickPage>;
  /** clickFile, in the thread. */
  clickFile(
    question: ClickListQuestion,
    form: ClickFileForm,
    signal: AbortSignal,
  ): AsyncGenerator<string | Uint8Array>;
  /** changesOfNumbers, in the thread. */
  changesOfNumbers(request: ChangesRequest, signal: AbortSignal): Promise<ChangesOfNumbers>;
  /** matchingClicks, in the thread. */
  matchingClicks: FindMatching;
  /** findClicks, in the thread. */
  findClicks(search: ClickSearch): Promise<FoundClicks>;
  /** verifyLog, in the thread. */
  verifyLog: VerifyInThread;
};
