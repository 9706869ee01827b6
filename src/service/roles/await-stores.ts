// Polls stores that are unavailable at the start, logs when they answer, and creates missing collections and indexes.

import { isRefused } from "../../commands/refusals.ts";
import { messageOf } from "../../runtime/errors.ts";
import { keepTrying } from "../../runtime/keep-trying.ts";
import type { Logger } from "../../runtime/logging.ts";
import { inTime } from "../../runtime/pause.ts";
import type { Backend } from "../stores/backend.ts";

const POLL = { fromMs: 1_000, toMs: 1_000 };
const LOG_EVERY_MS = 30_000;
/** How long the start waits for servers, so that one beside another service's stores ends before it listens. */
const FIRST_MS = 2_000;
/** As long as settings and stores are what they are. */
const NEVER_SERVED = ["other_log", "streams_of_others"] as const;

/** Prepares the stores where their servers answer by now; else awaitStores does. @throws other_log, streams_of_others */
export async function prepareNow({ prepare }: Pick<Backend, "prepare">): Promise<void> {
  const preparing = prepare().catch((error: unknown) => {
    if (isRefused(error, ...NEVER_SERVED)) throw error;
  });
  await inTime(FIRST_MS, preparing);
}

/** Runs in the background until the returned function is called; requests don't wait for it. */
export function awaitStores(
  { eventStore, prepare }: Pick<Backend, "eventStore" | "prepare">,
  log: Pick<Logger, "info" | "warn">,
): () => void {
  const stopping = new AbortController();
  void pollStore("event store", () => eventStore.head(), log, stopping.signal);
  void pollStore("read store", prepare, log, stopping.signal);
  return () => stopping.abort();
}

async function pollStore(
  name: string,
  call: () => Promise<unknown>,
  log: Pick<Logger, "info" | "warn">,
  signal: AbortSignal,
): Promise<void> {
  let loggedAt = Number.NEGATIVE_INFINITY;
  const onFailure = (error: unknown) => {
    // Nobody catches it: the service stops.
    if (isRefused(error, ...NEVER_SERVED)) throw error;
    if (performance.now() - loggedAt < LOG_EVERY_MS) return;
    log.warn(`waiting for the ${name}: ${messageOf(error)}`);
    loggedAt = performance.now();
  };
  await keepTrying({ ...POLL, random: Math.random, onFailure }, async () => void (await call()), signal);
  if (loggedAt > 0 && !signal.aborted) log.info(`the ${name} answers`);
}
