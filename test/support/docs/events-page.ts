// The text of docs/events.md, from the schemas in src/events: `npm run docs:events` writes it, a test compares it.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import {
  accountEvents,
  domainEvents,
  personEvents,
  webhookEvents,
} from "../../../src/events/accounts/account-events.ts";
import { sharingEvents } from "../../../src/events/accounts/sharing-events.ts";
import { catalogue, type EventType, publishedSchema } from "../../../src/events/catalogue.ts";
import { clickEvents, gapEvents } from "../../../src/events/click-events.ts";
import type { CatalogueEntry } from "../../../src/events/definition.ts";
import { linkEvents, withdrawalEvents } from "../../../src/events/link-events.ts";
import { logEvents, sealEvents } from "../../../src/events/log-events.ts";
import { operatorEvents } from "../../../src/events/operator-events.ts";
import { LOG_STREAM, PREFIX, SEALS_STREAM } from "../../../src/events/streams.ts";

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

[how-it-works.md](how-it-works.md) shows some events whole, [api.md](api.md#events-as-they-happen) says how to read those of an account.

Each has \`id\`, \`type\`, \`stream\`, \`revision\` (its number in the stream), \`position\` (its place in the log), \`recordedAt\`, \`data\`, and \`metadata\`: the version of its schema, who did it (\`actor\`: \`key\`, \`account\`, \`operator\` or \`system\`), the request (\`correlationId\`) and what caused it (\`causationId\`). The API's feed has the same as \`id\`, \`type\`, \`version\`, \`subject\`, \`at\`, \`recorded_at\`, \`position\`, \`actor\`, \`correlation_id\`, \`causation_id\` and \`data\`. *Internal* fields are in the log, and in no answer of the feed.

Names and meanings of types and fields never change; new types and optional fields may come.
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
  const types = SECTIONS.flatMap(([, events]) => Object.keys(events) as EventType[]);
  const common = commonFields(types.map(described));
  const fields = `## Fields of several events\n\n${[...common.values()].map((text) => `- ${text}`).join("\n")}\n`;
  const tables = SECTIONS.map(([title, events]) => section(title, events, common));
  return [INTRODUCTION, WITHOUT_US, fields, ...tables].join("\n");
}

const SECTIONS: readonly [title: string, events: object][] = [
  [`Stream \`${LOG_STREAM}\`, in no answer of the feed`, logEvents],
  [`Streams \`${PREFIX.account}...\``, { ...accountEvents, ...webhookEvents, ...sharingEvents }],
  [`Streams \`${PREFIX.domain}...\``, domainEvents],
  [`Streams \`${PREFIX.link}...\``, linkEvents],
  [`Streams \`${PREFIX.clicks}...\``, clickEvents],
  [`Streams \`${PREFIX.withdrawals}...\``, withdrawalEvents],
  [`Streams \`${PREFIX.gaps}...\`, in no answer of the feed`, gapEvents],
  [`Stream \`${SEALS_STREAM}\`, in no answer of the feed`, sealEvents],
  [`Streams \`${PREFIX.operator}...\`, in no answer of the feed`, operatorEvents],
  [`Streams \`${PREFIX.person}...\`, in no answer of the feed`, personEvents],
];

type Described = { type: EventType; fields: [name: string, text: string][] };

/** What three events or more say of a field is described once, above the tables. */
function commonFields(all: readonly Described[]): Map<string, string> {
  const common = new Map<string, string>();
  const texts = all.flatMap(({ fields }) => fields);
  for (const [name, text] of texts) {
    const uses = (wanted: string | undefined) => texts.filter(([, one]) => one === wanted).length;
    if (uses(text) >= 3 && uses(text) > uses(common.get(name))) common.set(name, text);
  }
  return common;
}

function section(title: string, events: object, common: ReadonlyMap<string, string>): string {
  const rows = Object.keys(events).map((type) => row(described(type as EventType), common));
  return `## ${title}\n\n| event | what happened | fields |\n|---|---|---|\n${rows.join("\n")}\n`;
}

function row({ type, fields }: Described, common: ReadonlyMap<string, string>): string {
  const { version, summary, internal = [] }: CatalogueEntry = catalogue[type];
  const known = fields.filter(([name, text]) => common.get(name) === text).map(([name]) => `\`${name}\``);
  const own = fields.filter(([name, text]) => common.get(name) !== text).map(([, text]) => text);
  const hidden =
    internal.length > 0 ? [`internal: ${internal.map((field) => `\`${field}\``).join(", ")}`] : [];
  const versioned = version > 1 ? `${summary} Version ${version}.` : summary;
  return `| \`${type}\` | ${versioned} | ${[known.join(", "), ...own, ...hidden].filter(Boolean).join("; ")} |`;
}

function described(type: EventType): Described {
  const { properties = {}, required = [] } = z.toJSONSchema(publishedSchema(type)) as JsonSchema;
  const fields = Object.entries(properties).map(([name, field]): [string, string] => {
    const optional = required.includes(name) ? "" : ", optional";
    const what = field.description
      ? `: ${field.description.replace(/^[A-Z](?=[a-z]*(?:[ ,:;]|$))/, (letter) => letter.toLowerCase())}`
      : "";
    return [name, `\`${name}\` (${typeOf(field)}${optional})${what}`];
  });
  return { type, fields };
}

function typeOf(field: JsonSchema): string {
  if (field.anyOf) return field.anyOf.map(typeOf).join(" or ");
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(", ");
  if (field.type === "array") return `list of ${typeOf(field.items ?? {})}`;
  if (field.type === "object" && !field.properties) return "object";
  if (field.type === "object") return `{ ${Object.keys(field.properties ?? {}).join(", ")} }`;
  return field.format ?? field.type ?? "any";
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(EVENTS_PAGE, eventsPage());
