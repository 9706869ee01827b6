// Answers a question about an account's clicks, in the reader thread: however long it takes, no redirect waits.
import { queriedBuild } from "../../../projections/builds/builds.ts";
import { readBuilds } from "../../../projections/builds/builds-document.ts";
import { type LinkDocument, links } from "../../../projections/definitions/links.ts";
import { clicks as clickGroup } from "../../../projections/groups.ts";
import { msBehind, nextEventFinder } from "../../../stores/event-store/next-event.ts";
import type { EventStore } from "../../../stores/event-store/port.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { answerFromLog, type LogDeps } from "./answer-from-log.ts";
import type { AccountAnswer, AccountQuestion, Group } from "./question.ts";
import { resolveQuestion } from "./resolve-question.ts";

type Deps = Omit<LogDeps, "readStore" | "eventStore"> & { readStore: ReadStore; eventStore: EventStore };

export type AskAccount = (question: AccountQuestion) => Promise<AccountAnswer>;

/** One for all that ask. Answers throw invalid_range, range_too_large, EventNewer and what the stores throw. */
export function accountQuestions(deps: Deps): AskAccount {
  const { readStore, eventStore } = deps;
  const next = nextEventFinder(eventStore, clickGroup.categories);
  return async (question) => {
    const build = queriedBuild(clickGroup, await readBuilds(readStore, clickGroup));
    const position = (await readStore.checkpoint(clickGroup.name))?.position ?? "";
    const resolved = await resolveQuestion(deps, question);
    const { groups, ...numbers } = await answerFromLog(deps, resolved, { position, rules: build?.rules });
    const { from, to, interval } = resolved;
    return {
      ...{ from, to, interval },
      ...numbers,
      groups: { ...groups, ...(groups.link && { link: await withTitles(readStore, groups.link) }) },
      position,
      behindMs: msBehind(await next(position), new Date(question.now)),
      source: "log",
    };
  };
}

async function withTitles(readStore: ReadStore, { rows, other }: Group): Promise<Group> {
  const keys = rows.map(({ value }) => value);
  const read = await readStore.getMany<LinkDocument>(links.collection.name, keys, ["title"]);
  const titles = new Map(read.map(({ _id, title }) => [_id, title]));
  return { rows: rows.map((row) => ({ ...row, label: titles.get(row.value) ?? undefined })), other };
}
