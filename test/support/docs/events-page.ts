// The text of docs/events.md, from the schemas in src/events: `npm run docs:events` writes it, a test compares it.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { accountEvents, domainEvents } from "../../../src/events/account-events.ts";
import { catalogue, type EventType, publishedSchema } from "../../../src/events/catalogue.ts";
import { clickEvents } from "../../../src/events/click-events.ts";
import type { CatalogueEntry } from "../../../src/events/definition.ts";
import { linkEvents, withdrawalEvents } from "../../../src/events/link-events.ts";
import { operatorEvents } from "../../../src/events/operator-events.ts";
import { sealEvents } from "../../../src/events/seal-events.ts";
import { PREFIX, SEALS_STREAM } from "../../../src/events/streams.ts";
import { webhookEvents } from "../../../src/events/webhook-events.ts";

export const EVENTS_PAGE = new URL("../../../docs/events.md", import.meta.url);

type JsonSchema = {
  type?: string;
  format?: string;
  enum?: string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
};

const INTRODUCTION = `# Events

<!-- Written by \`npm run docs:events\` from the schemas in src/events: change those, not this page. -->

Everything that happens is an event. \`GET /api/v1/events\` answers the events of the caller's own account: each once, in the order of the log, none passed over. It needs an API key of an account on the Developer tier, and carries the rate limit headers of every answer under \`/api\`.

\`\`\`
curl -H "X-API-Key: $KEY" "$BASE_URL/api/v1/events?limit=2&types=LinkCreated,LinkClicked"
\`\`\`

| parameter | |
|---|---|
| \`after\` | only events behind this position: \`next\` of the page before. Without it: from the account's first event |
| \`types\` | only these types, with commas |
| \`limit\` | of a page, 1 to 1000, default 100 |

The answer is \`{ "events": [...], "next": "...", "more": true }\`. Give \`next\` as \`after\` to go on, and keep it: it is all that a consumer needs to resume. One request reads at most 10,000 events of the log, which holds those of all accounts. So a page may be empty, and \`next\` moves on all the same; \`more\` is false at the end of the log: ask again later. A position that this log hasn't given out (another service, a log restored from an older backup) is 400 \`invalid_position\`.

**Server-sent events**: with \`Accept: text/event-stream\` events arrive as they happen, each as one \`message\` whose \`id\` is its position. Send the last \`id\` back as \`Last-Event-ID\` (or \`after\`) to resume; \`EventSource\` clients do it by themselves. Every five seconds an \`alive\` message carries how far the log was read. A stream ends when its key is deactivated, when the client does not read for 15 seconds, and after 50,000 events of the log were read for it: reconnect. Each connection counts as one request; ten an account.

**CloudEvents 1.0**: with \`Accept: application/cloudevents-batch+json\` a page is a batch of CloudEvents, and the next page is in \`Link: <...>; rel="next"\`. With \`Accept: text/event-stream, application/cloudevents+json\` the data of server-sent events is one CloudEvent each. \`sequence\` is the position, \`type\` begins with \`linkledger.\`, \`dataschema\` names the schema in \`/openapi.json\`.

Each event has \`id\`, \`type\`, \`version\` (of the data's schema), \`subject\`, \`at\`, \`recorded_at\`, \`position\`, \`actor\` (\`key\`, \`account\` for its owner in the portal, \`system\` with an id, or \`operator\`), \`correlation_id\` (the request's \`x-request-id\`), \`causation_id\` and \`data\`, which this page describes. What is listed as internal is in the log, and never in an answer; only the file that an owner exports in the portal has it. New types and new optional fields may come at any time: ignore what you don't know. An event that can't be read is there too, with \`data: null\` and \`error\`, also one that may be another account's as nothing tells whose it is; its \`type\` may be empty.
`;

const WITHOUT_US = `## Reading the log without us

The embedded log is one SQLite file with one row an append: \`position\` and \`revision\` of its last event, \`stream\`, \`count\`, \`recorded_at\`, and the JSON array of its events. Bodies of clicks are compressed by zstd with a dictionary that lies in the same file. \`sqlite3\` and \`zstd\` print all of it, also while the service runs:

\`\`\`sh
LOG=data/events.db; DIR=$(mktemp -d)
sqlite3 -readonly $LOG "SELECT writefile('$DIR/dictionary-' || number, bytes) FROM dictionaries" > $DIR/written
sqlite3 -readonly $LOG "SELECT position, ifnull(dictionary, 0), stream, recorded_at FROM appends ORDER BY position" |
while IFS='|' read -r POSITION DICTIONARY STREAM RECORDED_AT; do
  echo "# $POSITION $STREAM $RECORDED_AT"
  sqlite3 -readonly $LOG "SELECT writefile('$DIR/body', body) FROM appends WHERE position = $POSITION" > $DIR/written
  if [ $DICTIONARY = 0 ]; then cat $DIR/body; else zstd -dcq -D $DIR/dictionary-$DICTIONARY $DIR/body; fi
  echo
done
\`\`\`

On EventStoreDB its own tools show the same events.
`;

export function eventsPage(): string {
  return [INTRODUCTION, WITHOUT_US, ...SECTIONS.map(([title, events]) => section(title, events))].join("\n");
}

const SECTIONS: readonly [title: string, events: object][] = [
  [`Streams \`${PREFIX.account}...\``, { ...accountEvents, ...webhookEvents }],
  [`Streams \`${PREFIX.domain}...\``, domainEvents],
  [`Streams \`${PREFIX.link}...\``, linkEvents],
  [`Streams \`${PREFIX.clicks}...\``, clickEvents],
  [`Streams \`${PREFIX.withdrawals}...\``, withdrawalEvents],
  [`Stream \`${SEALS_STREAM}\`: in no answer of the feed (audit.md)`, sealEvents],
  [`Streams \`${PREFIX.operator}...\`: in no answer of the feed (console.md)`, operatorEvents],
];

function section(title: string, events: object): string {
  const types = Object.keys(events) as EventType[];
  return [`## ${title}\n`, ...types.map(typeText)].join("\n");
}

function typeText(type: EventType): string {
  const { version, summary, internal = [] }: CatalogueEntry = catalogue[type];
  const schema = z.toJSONSchema(publishedSchema(type)) as JsonSchema;
  const hidden =
    internal.length > 0 ? `\nInternal: ${internal.map((field) => `\`${field}\``).join(", ")}.\n` : "";
  return `### ${type}\n\n${summary} Version ${version}.\n\n| field | type | |\n|---|---|---|\n${rows(schema)}\n${hidden}`;
}

function rows({ properties = {}, required = [] }: JsonSchema): string {
  return Object.entries(properties)
    .map(([name, field]) => {
      const optional = required.includes(name) ? "" : ", optional";
      return `| \`${name}\` | ${typeOf(field)}${optional} | ${field.description ?? ""} |`;
    })
    .join("\n");
}

function typeOf(field: JsonSchema): string {
  if (field.anyOf) return field.anyOf.map(typeOf).join(" or ");
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(", ");
  if (field.type === "array") return `list of ${typeOf(field.items ?? {})}`;
  if (field.type === "object") return `{ ${Object.keys(field.properties ?? {}).join(", ")} }`;
  return field.format ?? field.type ?? "any";
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(EVENTS_PAGE, eventsPage());
