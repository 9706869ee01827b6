// Whose events are: all of one account in log order, for "export my data".
import { logPages } from "../../event-store/log-pages.ts";
import type { EventStore, RecordedEvent } from "../../event-store/port.ts";
import { readableEvent } from "../../events/read-event.ts";
import { accountStream, CATEGORY, PREFIX } from "../../events/streams.ts";
import { EVERY_KEY } from "./live-events.ts";

/** Bounds an export's memory, which holds a few pages at a time. */
const PAGE = 500;
/** Of a stream whose owner is searched for. */
const MOST_SEARCHED = 50;

type ReadDeps = { eventStore: Pick<EventStore, "read"> };

/**
 * Events of account, domains, links and clicks, or of fewer categories, from AccountOpened to the head of the log at the
 * call, with those that can't be read and may be the account's. Reads the whole log of that time and filters it, because
 * clicks of all accounts share streams; a page may be empty.
 */
export async function* accountEvents(
  { eventStore }: { eventStore: Pick<EventStore, "read" | "readAll" | "head"> },
  accountId: string,
  categories: readonly string[] = Object.values(CATEGORY),
): AsyncGenerator<RecordedEvent[]> {
  const [first] = await eventStore.read(accountStream(accountId), { limit: 1 });
  const upTo = await eventStore.head();
  if (!first || upTo === undefined) return;
  yield [first];
  const part = { after: first.position, upTo, categories, limit: PAGE };
  for await (const events of logPages(eventStore, part)) {
    const own: RecordedEvent[] = [];
    for (const event of events) if (await isShownTo({ eventStore }, accountId, event)) own.push(event);
    yield own;
  }
}

/** Whether the event is the account's, or can't be read and may be. */
export async function isShownTo(deps: ReadDeps, accountId: string, event: RecordedEvent): Promise<boolean> {
  const owner = ownerOf(event) ?? (await ownerOfUnreadable(deps, event));
  return owner === accountId || owner === EVERY_KEY;
}

/** The account that the event says it belongs to; undefined for one that says nothing. */
export function ownerOf({ data }: Pick<RecordedEvent, "data">): string | undefined {
  const owner = (data as { accountId?: unknown } | null)?.accountId;
  return typeof owner === "string" ? owner : undefined;
}

/**
 * For an event without an account: undefined where it belongs to none, EVERY_KEY where it can't be read and its stream doesn't
 * tell whose it is.
 */
export async function ownerOfUnreadable(deps: ReadDeps, event: RecordedEvent): Promise<string | undefined> {
  let isUnreadable = false;
  readableEvent(event, () => {
    isUnreadable = true;
  });
  if (!isUnreadable || event.stream.startsWith(PREFIX.operator)) return undefined;
  return (await ownerOfStream(deps, event)) ?? EVERY_KEY;
}

async function ownerOfStream(
  { eventStore }: ReadDeps,
  { stream, revision }: RecordedEvent,
): Promise<string | undefined> {
  const { account, link, withdrawals, domain } = PREFIX;
  if (stream.startsWith(account)) return stream.slice(account.length);
  const search = async (name: string, options: { from?: number; backwards?: boolean }) =>
    (await eventStore.read(name, { ...options, limit: MOST_SEARCHED })).map(ownerOf).find(Boolean);
  // A link never changes its owner; a hostname may, with each claim.
  if (stream.startsWith(link)) return await search(stream, {});
  if (stream.startsWith(withdrawals)) return await search(`${link}${stream.slice(withdrawals.length)}`, {});
  if (stream.startsWith(domain)) return await search(stream, { from: revision, backwards: true });
  return undefined;
}
