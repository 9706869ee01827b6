// One event as auditors see it: its data without what is internal, its metadata, and each field explained.
import type { z } from "zod";
import { Refused } from "../../commands/refusals.ts";
import { catalogue, type EventType } from "../../events/catalogue.ts";
import type { CatalogueEntry } from "../../events/definition.ts";
import { metadataOf, readEvent } from "../../events/read-event.ts";
import { CATEGORY, SEALS_STREAM } from "../../events/streams.ts";
import { messageOf } from "../../runtime/errors.ts";
import { type EventStore, type Position, type RecordedEvent, START } from "../../stores/event-store/port.ts";
import { refuseForeignPosition } from "../cursor.ts";

/** Shown instead of a value that is internal, such as the hash of an API key. */
export const WITHHELD = "(withheld)";

/** Members of a seal that are tens of kilobytes: what is kept of each event of its block. */
const LONG_OF_SEAL = ["places", "marks"];

export type AuditedEvent = ReturnType<typeof auditedEvent>;
export type ExplainedEvent = Awaited<ReturnType<typeof explainedEvent>> & { actor_name: string | null };

type Deps = { eventStore: Pick<EventStore, "read"> };

/** `withheld`: fields whose values are withheld. `error`: why it can't be read. */
export function auditedEvent(recorded: RecordedEvent) {
  const { id, type, stream, revision, position, recordedAt } = recorded;
  const metadata = metadataOf(recorded);
  return {
    id,
    type,
    stream,
    revision,
    position,
    recorded_at: recordedAt,
    schema_version: metadata.schemaVersion,
    actor: metadata.actor,
    correlation_id: metadata.correlationId,
    causation_id: metadata.causationId,
    ...published(recorded),
    error: errorOf(recorded),
  };
}

function errorOf(recorded: RecordedEvent): string | null {
  try {
    readEvent(recorded);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** `summary`: empty for a type that there isn't. @throws not_found */
export async function explainedEvent({ eventStore }: Deps, stream: string, revision: number) {
  const [recorded] = await eventStore.read(stream, { from: revision, limit: 1 });
  if (!recorded || recorded.revision !== revision)
    throw new Refused("not_found", `There is no revision ${revision} of stream ${stream}`);
  const event = auditedEvent(recorded);
  const { summary = "", schema } = entryOf(recorded.type) ?? {};
  const described: Readonly<Record<string, z.ZodType>> = schema?.shape ?? {};
  const fields = Object.entries((event.data ?? {}) as Record<string, unknown>).map(([name, value]) => ({
    name,
    value,
    about: Object.hasOwn(described, name) ? (described[name]?.description ?? "") : "",
  }));
  return { ...event, summary, fields };
}

/** The stream's events before revision `before`, newest first. @throws not_found for a stream without events */
export async function streamPage(
  { eventStore }: Deps,
  stream: string,
  { before, limit }: { before?: number | undefined; limit: number },
) {
  const from = before === undefined ? {} : { from: before - 1 };
  const events =
    before === 0 ? [] : await eventStore.read(stream, { backwards: true, limit: limit + 1, ...from });
  if (events.length === 0 && before === undefined)
    throw new Refused("not_found", `There is no stream ${stream}`);
  const shown = events.slice(0, limit);
  const last = shown.at(-1);
  return { events: shown.map(auditedEvent), next: last && events.length > limit ? last.revision : null };
}

/** The log's events from a position on, with it, in their order. `next`: where the next page begins. @throws invalid_position */
export async function logPage(
  { eventStore }: { eventStore: Pick<EventStore, "readAll" | "head"> },
  { from, category, limit }: { from?: Position | undefined; category?: string | undefined; limit: number },
) {
  if (category === SEALS_STREAM) return { events: [], next: null };
  if (from !== undefined) await refuseForeignPosition({ eventStore }, from);
  const categories = category === undefined ? Object.values(CATEGORY) : [category];
  const start = from === undefined || from === START ? { after: START } : { from };
  const { events } = await eventStore.readAll({ ...start, categories, limit: limit + 1 });
  return { events: events.slice(0, limit).map(auditedEvent), next: events[limit]?.position ?? null };
}

function published({ type, data }: RecordedEvent): { data: unknown; withheld: string[] } {
  const internal = [...(entryOf(type)?.internal ?? []), ...(type === "LogSealed" ? LONG_OF_SEAL : [])];
  if (typeof data !== "object" || data === null) return { data, withheld: [] };
  const withheld = internal.filter((name) => name in data);
  const masked = Object.fromEntries(withheld.map((name) => [name, WITHHELD]));
  return { data: { ...data, ...masked }, withheld };
}

function entryOf(type: string): CatalogueEntry | undefined {
  return Object.hasOwn(catalogue, type) ? catalogue[type as EventType] : undefined;
}
