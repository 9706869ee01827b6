// linkledger audit streams | stream | events | link: shows the event log; look-ups and seals are beside it.
import { Option } from "commander";
import { Refused } from "../../commands/refusals.ts";
import { CATEGORY, linkKey, linkStream, streamNamed, withdrawalStream } from "../../events/streams.ts";
import { CATEGORIES } from "../../queries/audit/questions.ts";
import { refuseForeignPosition } from "../../queries/cursor.ts";
import { Failure } from "../../runtime/errors.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import { type CommandRow, option, wholeFrom } from "../command.ts";
import { LINK, linkNamed } from "../named.ts";
import { forPeople } from "../output.ts";
import { inService } from "../session.ts";
import { auditQuestions } from "./question-commands.ts";
import { auditSealCommands } from "./seal-commands.ts";

const PAGE = 1000;

const category = (about: string) => new Option("--category <category>", about).choices(CATEGORIES);

export const commands: readonly CommandRow[] = [
  {
    name: "streams",
    about: "all streams with their number of events",
    options: [category("only streams of it")],
    by: inService,
    async run({ backend }, options: { category?: string }) {
      const categories = options.category ? [options.category] : CATEGORIES;
      return { streams: await streams(backend.eventStore, categories) };
    },
  },
  {
    name: "stream <name>",
    about: "the events of one stream",
    by: inService,
    run: ({ backend, work, terminal }, { json }: { json?: boolean }, name: string) =>
      work.printing(
        streamParts(backend.eventStore, streamNamed(name), { json, width: terminal.stdout.columns }),
      ),
  },
  {
    name: "events",
    about: "the events of the log in their order, a line each",
    options: [
      category("only of its streams"),
      option("--after <position>", "only those behind this position, such as the last one that was printed"),
      new Option(
        "--from <position>",
        "from the event at this position on, such as that of a row of a click export",
      ).conflicts("after"),
      option("--limit <count>", "at most so many", wholeFrom(1, 9)).default(PAGE),
    ],
    by: inService,
    async run({ backend }, options: { category?: string; after?: Position; from?: Position; limit: number }) {
      const { category, after, from, limit } = options;
      for (const position of [after, from])
        if (position !== undefined) await refuseForeignPosition(backend, position);
      const categories = category ? [category] : Object.values(CATEGORY);
      const start = from === undefined ? { after: after ?? START } : { from };
      const { events } = await backend.eventStore.readAll({ ...start, categories, limit });
      return { events };
    },
  },
  {
    name: "link <link>",
    about: "everything that happened to one link, withdrawals of its hits too; the hits apart",
    args: { link: LINK },
    by: inService,
    async run(session, _: object, text: string) {
      const { backend } = session;
      const { host, slug } = linkNamed(session, text);
      const stream = linkStream(host, slug);
      const events = await backend.eventStore.read(stream);
      if (events.length === 0) throw new Refused("link_not_found");
      events.push(...(await backend.eventStore.read(withdrawalStream(linkKey(host, slug)))));
      events.sort((a, b) => (a.position < b.position ? -1 : 1));
      return { stream, events };
    },
  },
  ...auditQuestions,
  ...auditSealCommands,
];

async function streams(eventStore: EventStore, categories: readonly string[]) {
  const byName = new Map<string, { stream: string; events: number; last_recorded_at: string }>();
  for await (const { events } of logPages(eventStore, { after: START, categories, limit: PAGE }))
    for (const { stream, recordedAt } of events) {
      const before = byName.get(stream)?.events ?? 0;
      byName.set(stream, { stream, events: before + 1, last_recorded_at: recordedAt });
    }
  return [...byName.values()];
}

/** Page by page, as a stream may be longer than memory: one JSON document, or for people. @throws Failure */
export async function* streamParts(
  eventStore: Pick<EventStore, "read">,
  stream: string,
  { json, width }: { json?: boolean | undefined; width?: number | undefined },
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const events of streamPages(eventStore, stream)) {
    if (json) {
      yield isFirst ? `{"stream":${JSON.stringify(stream)},"events":[` : ",";
      yield events.map((event) => JSON.stringify(event)).join(",");
    } else {
      if (isFirst) yield `${forPeople({ stream }, width)}\n`;
      yield `\n${forPeople({ events }, width)}\n`;
    }
    isFirst = false;
  }
  if (isFirst) throw new Failure(`There is no stream ${stream}`);
  if (json) yield "]}\n";
}
