// Reads the log for the event feed, exports, ranges and verification, in the reader thread.
import { sealKeysFrom, trustOf } from "../../audit/seals/seal-keys.ts";
import type { Config } from "../../config/config.ts";
import { metadataOf, readableEvent } from "../../events/read-event.ts";
import type { ActiveReadStore } from "../../projections/builds/active-read-store.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import { changesOfNumbers } from "../../queries/analytics/changes/changes-of-numbers.ts";
import { accountQuestions, clickQuestions } from "../../queries/analytics/click-questions.ts";
import { tableReader } from "../../queries/analytics/counting/table-reader.ts";
import { fairQueue } from "../../queries/analytics/fair-queue.ts";
import { linkNumbers } from "../../queries/analytics/link-numbers.ts";
import { whenCounted } from "../../queries/analytics/when-counted.ts";
import { exportLink } from "../../queries/audit/export-link.ts";
import { findClicks } from "../../queries/audit/find-clicks.ts";
import { matchingClicks } from "../../queries/audit/matching-clicks.ts";
import { accountEvents, ownerOf } from "../../queries/feed/account-events.ts";
import { feedReader } from "../../queries/log-reader/feed.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import { verifyInSteps } from "../../queries/log-reader/verify-in-steps.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { pause } from "../../runtime/pause.ts";
import { takeTurns, timeSlices } from "../../runtime/threads/time-slices.ts";
import type { EventStore, RecordedEvent } from "../../stores/event-store/port.ts";
import { readInTurns } from "../../stores/event-store/read-in-turns.ts";
import { clickFile, clickPage } from "../../transfer/export/account-clicks.ts";
import type { Stores } from "../stores/stores.ts";

/** `readStore`: for queries. Whatever takes long reads its log, counts and waits in the turns of the thread. */
export function logReader(
  stores: Stores,
  opened: { eventStore: EventStore; readStore: ActiveReadStore },
  config: Config,
  log: BasicLogger,
): LogReader {
  const { baseUrl } = config;
  const { readStore } = opened;
  const turns = takeTurns();
  const slices = (signal?: AbortSignal) => timeSlices(signal, turns);
  const eventStore = readInTurns(opened.eventStore, turns);
  const queried = async () => (await readStore.queried(clickGroup)).build;
  const reader = tableReader({ readStore, queried });
  const counting = { eventStore, readStore, reader, slices };
  const changing = { ...counting, counted: whenCounted({ ...counting, sleep: pause }) };
  const questions = clickQuestions(counting);
  const askLink = linkNumbers({ ...counting, questions, sleep: pause });
  const inLine = fairQueue();
  return {
    ...feedReader({ eventStore, baseUrl, sleep: pause, log }),
    exportProof: (link) => exportLink({ eventStore }, link),
    async *exportAccount(accountId, signal) {
      for await (const events of accountEvents({ eventStore }, accountId)) {
        if (signal.aborted) return;
        if (events.length > 0) yield events.map((event) => `${JSON.stringify(plain(event))}\n`).join("");
      }
    },
    askAccount: accountQuestions(questions, readStore, inLine),
    linkNumbers: (link, range, now, signal) =>
      inLine(link.accountId, () => askLink(link, range, now, signal), signal),
    latestClicks: (question, limit, signal) =>
      inLine(question.accountId, () => questions.latestOf(question, limit, signal), signal),
    clickPage: (question, place, limit, signal) =>
      inLine(question.accountId, () => clickPage(counting, question, place, limit, signal), signal),
    async *clickFile(question, form, signal) {
      for await (const part of clickFile(counting, question, form, signal)) {
        if (signal.aborted) return;
        if (part.length > 0) yield part;
      }
    },
    changesOfNumbers: (request, signal) =>
      inLine(request.accountId, () => changesOfNumbers(changing, request, signal), signal),
    matchingClicks: (address, selection) => matchingClicks({ eventStore }, address, selection),
    findClicks: (search) => findClicks({ eventStore }, search),
    async *verifyLog(options, signal) {
      const log = await stores.openVerifiableLog();
      try {
        const trust = trustOf(config, sealKeysFrom(config));
        return yield* verifyInSteps({ eventStore: log, trust, slices: slices(signal) }, options, signal);
      } finally {
        await log.close();
      }
    },
  };
}

/** Without technical fields such as event id, position and correlation ids. */
function plain(recorded: RecordedEvent) {
  const { stream, revision, type, recordedAt, data } = recorded;
  const { schemaVersion, actor } = metadataOf(recorded);
  let error: string | undefined;
  readableEvent(recorded, (_, { message }) => {
    error = message;
  });
  return {
    stream,
    revision,
    type,
    schema_version: schemaVersion,
    recorded_at: recordedAt,
    actor,
    // Without an account that it names, it may be another one's.
    ...(error === undefined || ownerOf(recorded) !== undefined
      ? { data, error }
      : { data: null, error: "can't be read" }),
  };
}
