// Our own export of an account as JSON lines: its links with their state, and their clicks; `linkledger import` reads it.
import type { z } from "zod";
import { loadAccount } from "../../commands/account/account-stream.ts";
import { evolve, freeLink, type LinkState } from "../../commands/links/link.ts";
import { linkPasswordSecret } from "../../commands/links/link-password.ts";
import type { EventOf, LinkEvent, StoredEvent } from "../../events/catalogue.ts";
import { optionsOf } from "../../events/link-options.ts";
import type { LinkStatus } from "../../events/links/link-status.ts";
import { readableEvent } from "../../events/read-event.ts";
import { addressOf, CATEGORY, linkStream } from "../../events/streams.ts";
import { withdrawnOfAll } from "../../projections/fold/read-withdrawals.ts";
import { accountEvents, ownerOf } from "../../queries/feed/account-events.ts";
import { type StatusDeps, statusOf } from "../../queries/links/link-statuses.ts";
import type { EventStore, RecordedEvent } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import {
  EXPORT_TYPE,
  EXPORT_VERSION,
  type ExportedClick,
  type ExportedLink,
  UNREADABLE_TYPE,
} from "../import/formats/linkledger.ts";

export type AccountLinesDeps = StatusDeps & {
  eventStore: EventStore;
  secrets: Pick<Secrets, "get">;
};

/**
 * Links alone, or all of the account that another instance can take: lines up to the head of the log at the call, each link
 * before its clicks, without clicks that are withdrawn, so that an import counts the same. An event that can't be read, and
 * that is the account's or may be, has a line that says so. Reads page by page. `status`: only links that have it now.
 * @throws EventNewer
 */
export async function* accountLines(
  deps: AccountLinesDeps,
  accountId: string,
  what: "links" | "account",
  { status }: { status?: LinkStatus | undefined } = {},
): AsyncGenerator<string> {
  const account = await loadAccount(deps.eventStore, accountId);
  yield line({
    type: EXPORT_TYPE,
    version: EXPORT_VERSION,
    exported_at: deps.clock().toISOString(),
    account_id: accountId,
    ...(account.status === "open" && { tier: account.tier }),
    base_host: deps.baseHost,
  });
  const isWithdrawn = await withdrawnOfAll(deps);
  const categories = what === "links" ? [CATEGORY.link] : [CATEGORY.link, CATEGORY.clicks];
  for await (const events of accountEvents(deps, accountId, categories)) {
    const lines: string[] = [];
    for (const recorded of events) {
      const event = readableEvent(recorded, (_, { message: error }) =>
        lines.push(line(unreadableLine(recorded, error))),
      );
      if (event?.type === "LinkCreated") {
        const link = await accountLink(deps, event);
        if (status === undefined || link.status === status) lines.push(line(linkLine(deps, link)));
      }
      if (event?.type === "LinkClicked" && !isWithdrawn({ ...event.data, position: event.position }))
        lines.push(line(clickLine(deps, event)));
    }
    if (lines.length > 0) yield lines.join("");
  }
}

/**
 * A link of the account, as its events make it. `status`: what a visitor meets now. `changes`: after its creation.
 * `passwordHash`: argon2id.
 */
type AccountLink = {
  host: string;
  slug: string;
  created: EventOf<"LinkCreated">["data"];
  state: Exclude<LinkState, { status: "free" }>;
  status: LinkStatus;
  changes: z.input<typeof ExportedLink>["changes"];
  passwordHash: string | undefined;
};

/** In the order of their creation. `onUnreadable`: of an event that can't be read. @throws EventNewer */
export async function* accountLinks(
  deps: AccountLinesDeps,
  accountId: string,
  onUnreadable: (error: string) => void,
): AsyncGenerator<AccountLink> {
  for await (const events of accountEvents(deps, accountId, [CATEGORY.link]))
    for (const recorded of events) {
      const event = readableEvent(recorded, (_, { message }) => onUnreadable(message));
      if (event?.type === "LinkCreated") yield await accountLink(deps, event);
    }
}

async function accountLink(
  deps: AccountLinesDeps,
  { data: created }: EventOf<"LinkCreated">,
): Promise<AccountLink> {
  const { eventStore, secrets, clock } = deps;
  const { host, slug } = created;
  let state: LinkState = freeLink;
  const changes: AccountLink["changes"] = [];
  for await (const page of streamPages(eventStore, linkStream(host, slug)))
    for (const recorded of page) {
      const event = readableEvent(recorded) as LinkEvent | undefined;
      if (!event) continue;
      state = evolve(state, event);
      if (event.type === "LinkCreated") continue;
      const { host: _, slug: __, accountId: ___, ...change } = event.data;
      changes.push({ type: event.type, ...change } as (typeof changes)[number]);
    }
  if (state.status === "free") throw new Error(`${host}/${slug} has no LinkCreated`);
  const { passwordId } = state;
  const hash = passwordId && (await secrets.get(linkPasswordSecret(passwordId), clock()));
  const passwordHash = typeof hash === "string" ? hash : undefined;
  const status = await statusOf(deps, state);
  return { host, slug, created, state, status, changes, passwordHash };
}

function linkLine(deps: AccountLinesDeps, link: AccountLink): z.input<typeof ExportedLink> {
  const { host, slug, created, state, status, changes, passwordHash } = link;
  return {
    type: "link",
    domain: host === deps.baseHost ? null : host,
    slug,
    long_url: state.longUrl,
    status,
    created_at: state.createdAt,
    via: state.via,
    custom: state.custom,
    options: optionsOf(created),
    ...(passwordHash !== undefined && { password_hash: passwordHash }),
    changes,
  };
}

function unreadableLine({ stream, revision, recordedAt, data }: RecordedEvent, error: string): object {
  // Another account's, perhaps: what the error says of the content is for the operator.
  const reason = ownerOf({ data }) === undefined ? "can't be read" : error;
  return { type: UNREADABLE_TYPE, stream, revision, recorded_at: recordedAt, error: reason };
}

function clickLine(
  { baseHost }: AccountLinesDeps,
  { id, data }: StoredEvent & { type: "LinkClicked" },
): z.input<typeof ExportedClick> {
  const { link, accountId: _, ...click } = data;
  const { host, slug } = addressOf(link);
  return { type: "click", domain: host === baseHost ? null : host, slug, id, click };
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
