// Deletes the links of closed accounts: follows AccountClosed events, and repeats until the documents show no link.

import { type CloseDeps, finishClosing } from "../../commands/account/close-account.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { CATEGORY } from "../../events/streams.ts";
import { lifecycle } from "../../projections/groups.ts";
import { linksToClose } from "../../queries/links/links-to-close.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { isOfThisLog } from "../../stores/event-store/foreign-position.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import { type NextEvent, nextEventFinder } from "../../stores/event-store/next-event.ts";
import { type Position, START } from "../../stores/event-store/port.ts";
import type { Checkpoint, ReadStore } from "../../stores/read-store/port.ts";

type AccountClosingDeps = CloseDeps & {
  readStore: ReadStore;
  /** Resolves to true when the links projection has folded this position, to false when that takes too long. */
  isShown: (position: Position) => Promise<boolean>;
  log: Pick<BasicLogger, "info" | "warn">;
};

/** Saved when all accounts that were closed before this position have no links left. */
export const CLOSING_CHECKPOINT = "account-closing";

const PAGE = 1_000;
/** A request that was authorised before its node saw AccountClosed may still create a link for so long. */
const LAST_LINK_WITHIN_MS = 30_000;

/** The runs of the singleton job: each continues what an earlier one could not finish. */
export function accountClosings(deps: AccountClosingDeps): (signal: AbortSignal) => Promise<void> {
  const nextLink = nextEventFinder(deps.eventStore, [CATEGORY.link]);
  /** As followClosed adds them. */
  const pending = new Map<string, number>();
  const follower = followClosed(deps, pending);

  const finish = async (accountId: string, closedAt: number, signal: AbortSignal) => {
    const showsAll = await showsAllLinks(deps, closedAt, nextLink);
    const context: CommandContext = { requestId: deps.newId(), actor: { type: "system", id: "closing" } };
    const { deletedLinks } = await finishClosing(
      { ...deps, ...linksToClose(deps) },
      context,
      accountId,
      signal,
    );
    if (deletedLinks > 0) deps.log.info({ accountId, deletedLinks }, "deleted the links of a closed account");
    else if (showsAll && !signal.aborted) pending.delete(accountId);
  };
  return async (signal) => {
    await follower.collect(signal);
    for (const [accountId, closedAt] of [...pending]) {
      if (signal.aborted) return;
      await finish(accountId, closedAt, signal).catch((err: unknown) =>
        deps.log.warn({ err, accountId }, "closing an account was interrupted, the next turn goes on"),
      );
    }
    if (pending.size === 0) await follower.save();
  };
}

/** Adds the accounts that were closed since its checkpoint to `pending`, with the time of closing in milliseconds. */
function followClosed({ eventStore, readStore }: AccountClosingDeps, pending: Map<string, number>) {
  const categories = [CATEGORY.account];
  let saved: Checkpoint | undefined;
  /** The last event of an account that was read. The log is read up to `readTo`: what is of others is passed once. */
  let last: Checkpoint | undefined;
  let readTo: Position | undefined;
  return {
    async collect(signal: AbortSignal): Promise<void> {
      if (readTo === undefined) {
        saved = await checkpointOf({ eventStore, readStore });
        last = saved;
        readTo = saved?.position ?? START;
      }
      for await (const { events, next } of logPages(eventStore, { after: readTo, categories, limit: PAGE })) {
        if (signal.aborted) return;
        for (const { type, data, recordedAt, position, id } of events) {
          const { accountId } = (data ?? {}) as { accountId?: unknown };
          if (type === "AccountClosed" && typeof accountId === "string")
            pending.set(accountId, Date.parse(recordedAt));
          last = { position, eventId: id };
        }
        readTo = next;
      }
    },
    /** To be called when no account is pending. @throws CheckpointMoved when another process does this work, too */
    async save(): Promise<void> {
      if (last === undefined || last === saved) return;
      const checkpoint = { name: CLOSING_CHECKPOINT, from: saved, to: last };
      await readStore.write({ documents: [], checkpoint }).catch((error: unknown) => {
        // The next turn begins at the stored one.
        readTo = undefined;
        throw error;
      });
      saved = last;
    },
  };
}

/** Undefined before the first event, and of another log, as after an older copy was put back; that one is removed. */
async function checkpointOf(deps: Pick<AccountClosingDeps, "eventStore" | "readStore">) {
  const stored = await deps.readStore.checkpoint(CLOSING_CHECKPOINT);
  if (stored === undefined || (await isOfThisLog(deps, stored))) return stored;
  await deps.readStore.dropCheckpoint(CLOSING_CHECKPOINT);
  return undefined;
}

/** Whether the documents contain every link that the account can have created, so that an empty list is final. */
async function showsAllLinks(
  { readStore, clock }: AccountClosingDeps,
  closedAt: number,
  nextLink: NextEvent,
): Promise<boolean> {
  const lastMadeBy = closedAt + LAST_LINK_WITHIN_MS;
  if (clock().getTime() < lastMadeBy) return false;
  const next = await nextLink((await readStore.checkpoint(lifecycle.name))?.position ?? START);
  return next === undefined || Date.parse(next.recordedAt) > lastMadeBy;
}
