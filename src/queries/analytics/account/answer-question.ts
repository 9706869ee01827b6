// Answers a question about an account's clicks, in the reader thread: however long it takes, no redirect waits.
import { queriedBuild } from "../../../projections/builds/builds.ts";
import { readBuilds } from "../../../projections/builds/builds-document.ts";
import { type LinkDocument, links } from "../../../projections/definitions/links.ts";
import { clicks as clickGroup } from "../../../projections/groups.ts";
import { msBehind, nextEventFinder } from "../../../stores/event-store/next-event.ts";
import { type EventStore, START } from "../../../stores/event-store/port.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { gapsBetween } from "../gaps.ts";
import { documentAnswers, isInDocuments } from "./answer-from-documents.ts";
import { answerFromLog, clicksSince, MOST_READ, tooLarge } from "./answer-from-log.ts";
import { fairQueue } from "./fair-queue.ts";
import type { AccountAnswer, AccountQuestion, Group } from "./question.ts";
import { type Resolved, resolveQuestion } from "./resolve-question.ts";

/** `fewClicks`: as many are read from the log also where documents would do. */
type Deps = {
  readStore: ReadStore;
  eventStore: EventStore;
  fewClicks?: number;
};

/** Some 100 ms, for which rows have their visitors, and no value is cut. */
const FEW_CLICKS = 10_000;
/** Where clicks were counted while documents were read, they are read again. */
const TRIES = 4;

/** It ends, with the reason of the signal, when nobody waits for the answer any more. */
export type AskAccount = (question: AccountQuestion, signal?: AbortSignal) => Promise<AccountAnswer>;

/** One for all that ask. Answers throw invalid_range, range_too_large, analytics_busy, EventNewer and what the stores throw. */
export function accountQuestions(deps: Deps, inLine = fairQueue()): AskAccount {
  const { readStore, eventStore } = deps;
  const next = nextEventFinder(eventStore, clickGroup.categories);
  const fromDocuments = documentAnswers(deps, inLine);
  const { fewClicks = FEW_CLICKS } = deps;

  const numbersOf = async (
    resolved: Resolved,
    rules: string | undefined,
    signal: AbortSignal | undefined,
  ) => {
    const since = resolved.previous?.from ?? resolved.from;
    for (let attempt = 1; ; attempt += 1) {
      const position = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
      const clicks = await clicksSince(deps, since);
      const asOf = { position, rules };
      if (!isInDocuments(resolved) || clicks <= fewClicks) {
        if (clicks > MOST_READ) throw tooLarge();
        const fromLog = () => answerFromLog(deps, resolved, asOf, signal);
        const numbers = await inLine(resolved.accountId, fromLog, signal);
        return { ...numbers, position, source: "log" as const };
      }
      const numbers = await fromDocuments(resolved, asOf, signal);
      const isSame = (await readStore.checkpoint(clickGroup.name))?.position === position;
      if (isSame || attempt === TRIES) return { ...numbers, position, source: "documents" as const };
    }
  };

  return async (question, signal) => {
    const build = queriedBuild(clickGroup, await readBuilds(readStore, clickGroup));
    const resolved = await resolveQuestion(deps, question);
    const { groups, position, ...numbers } = await numbersOf(resolved, build?.rules, signal);
    const { from, to, interval } = resolved;
    return {
      from,
      to,
      interval,
      ...numbers,
      groups: { ...groups, ...(groups.link && { link: await withTitles(readStore, groups.link) }) },
      gaps: await gapsBetween(readStore, from, to),
      position,
      behindMs: msBehind(await next(position), new Date(question.now)),
    };
  };
}

async function withTitles(readStore: ReadStore, { rows, other }: Group): Promise<Group> {
  const keys = rows.map(({ value }) => value);
  const read = await readStore.getMany<LinkDocument>(links.collection.name, keys, ["title"]);
  const titles = new Map(read.map(({ _id, title }) => [_id, title]));
  return { rows: rows.map((row) => ({ ...row, label: titles.get(row.value) ?? undefined })), other };
}
