// linkledger audit streams | stream | events | link: shows the event log; look-ups and seals are beside it.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { refuseForeignPosition } from "../event-store/foreign-position.ts";
import { logPages } from "../event-store/log-pages.ts";
import type { EventStore, Position } from "../event-store/port.ts";
import { streamPages } from "../event-store/stream-pages.ts";
import { CATEGORY, linkKey, linkStream, withdrawalStream } from "../events/streams.ts";
import { CATEGORIES } from "../queries/audit/questions.ts";
import { Refused } from "../runtime/refused.ts";
import { wholeFrom } from "./arguments.ts";
import { auditLookupCommands } from "./audit/lookup-commands.ts";
import { auditSealCommands } from "./audit-seal-commands.ts";
import { LINK, linkNamed } from "./link-name.ts";
import { forPeople } from "./output.ts";
import { type Json, runReading } from "./session.ts";

const PAGE = 1000;

export function auditCommands(program: Command): void {
  const audit = program.command("audit").description("the log of events");

  audit
    .command("streams")
    .description("all streams with their number of events")
    .addOption(new Option("--category <category>", "only streams of it").choices(CATEGORIES))
    .option("--json", "print one JSON document")
    .action((options: Json & { category?: string }) =>
      runReading(options, async ({ backend }) => {
        const categories = options.category ? [options.category] : CATEGORIES;
        return { streams: await streams(backend.eventStore, categories) };
      }),
    );

  audit
    .command("stream")
    .description("the events of one stream")
    .argument("<name>")
    .option("--json", "print one JSON document")
    .action((name: string, options: Json) =>
      runReading(options, async ({ backend }) => {
        const parts = Readable.from(streamParts(backend.eventStore, name, options));
        await pipeline(parts, process.stdout, { end: false });
        return undefined;
      }),
    );

  audit
    .command("events")
    .description("the events of the log in their order, a line each")
    .addOption(new Option("--category <category>", "only of its streams").choices(CATEGORIES))
    .option("--after <position>", "only those behind this position, such as the last one that was printed")
    .addOption(
      new Option(
        "--from <position>",
        "from the event at this position on, such as that of a row of a click export",
      ).conflicts("after"),
    )
    .option("--limit <count>", "at most so many", wholeFrom(1, 9), PAGE)
    .option("--json", "print one JSON document")
    .action((options: Json & { category?: string; after?: Position; from?: Position; limit: number }) =>
      runReading(options, async ({ backend }) => {
        const { category, after, from, limit } = options;
        for (const position of [after, from])
          if (position !== undefined) await refuseForeignPosition(backend, position);
        const categories = category ? [category] : Object.values(CATEGORY);
        return { events: await backend.eventStore.readAll({ categories, after, from, limit }) };
      }),
    );

  audit
    .command("link")
    .description("everything that happened to one link, withdrawals of its hits too; the hits apart")
    .argument("<link>", LINK)
    .option("--json", "print one JSON document")
    .action((text: string, options: Json) =>
      runReading(options, async (session) => {
        const { backend } = session;
        const { host, slug } = linkNamed(session, text);
        const stream = linkStream(host, slug);
        const events = await backend.eventStore.read(stream);
        if (events.length === 0) throw new Refused("link_not_found");
        events.push(...(await backend.eventStore.read(withdrawalStream(linkKey(host, slug)))));
        events.sort((a, b) => (a.position < b.position ? -1 : 1));
        return { stream, events };
      }),
    );
  auditLookupCommands(audit);
  auditSealCommands(audit);
}

async function streams(eventStore: EventStore, categories: readonly string[]) {
  const found = new Map<string, { stream: string; events: number; last_recorded_at: string }>();
  for await (const events of logPages(eventStore, { categories, limit: PAGE }))
    for (const { stream, recordedAt } of events) {
      const known = found.get(stream)?.events ?? 0;
      found.set(stream, { stream, events: known + 1, last_recorded_at: recordedAt });
    }
  return [...found.values()];
}

/** Page by page, as a stream may be longer than memory: one JSON document, or for people. @throws stream_not_found */
export async function* streamParts(
  eventStore: Pick<EventStore, "read">,
  stream: string,
  { json }: Json,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const events of streamPages(eventStore, stream)) {
    if (json) {
      yield isFirst ? `{"stream":${JSON.stringify(stream)},"events":[` : ",";
      yield events.map((event) => JSON.stringify(event)).join(",");
    } else {
      if (isFirst) yield `${forPeople({ stream })}\n`;
      yield `\n${forPeople({ events })}\n`;
    }
    isFirst = false;
  }
  if (isFirst) throw new Refused("stream_not_found", `There is no stream ${stream}`);
  if (json) yield "]}\n";
}
