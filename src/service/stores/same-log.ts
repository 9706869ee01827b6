// Documents, deliveries and secrets note which log they are kept beside: beside another one documents would be folded
// anew, webhooks sent again, and addresses and keys be missing, while everything else looked fine.

import { Refused } from "../../commands/refusals.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { CATEGORY } from "../../events/streams.ts";
import { changeBuilds, readBuilds } from "../../projections/builds/builds-document.ts";
import { projectionGroups } from "../../projections/groups.ts";
import { orUndefined } from "../../stores/connections/errors.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { DeliveryQueue } from "../../webhooks/queue/queue.ts";
import type { BegunLog } from "./begun-log.ts";
import type { StoresConfig } from "./stores.ts";

export type KeptBeside = {
  begun: BegunLog;
  eventStore: Pick<EventStore, "readAll">;
  foldStore: Pick<ReadStore, "checkpoint" | "write">;
  secrets: Pick<Secrets, "get" | "put" | "putIfAbsent">;
  /** Where it can't be opened, only the webhooks are stopped. */
  deliveryQueue(): Promise<Pick<DeliveryQueue, "routed" | "noteRouted">>;
};

/** Of the secrets. */
const LOG_SECRET = "log";

type Kept = "secrets" | "documents" | "deliveries";
type Config = Pick<StoresConfig, "eventStoreUrl" | "eventStorePrefix" | "dataDir">;

/**
 * Changes nothing. `adopts`: the log that is meant to go with what is kept here, whichever that is of.
 * @throws other_log; what the stores throw
 */
export async function refuseOtherLog(kept: KeptBeside, config: Config, adopts?: string): Promise<void> {
  // Before the log, as who starts at the same time begins the log before noting it.
  const noted = adopts === undefined ? await notedBy(kept) : new Map<Kept, string>();
  const beginning = await kept.begun.beginning();
  const logId = beginning?.logId;
  if (adopts !== undefined && adopts !== logId)
    throw new Refused("other_log", `${logOf(config)} is ${logId ?? "none yet"}, not ${adopts}`);
  if (adopts !== undefined) return;
  for (const [what, of] of noted) if (of !== logId) throw otherLog(config, what, of, logId);
  if (!beginning || noted.has("secrets")) return;
  const accounts = { after: beginning.position, categories: [CATEGORY.account], limit: 1 };
  const hasAccounts = (await kept.eventStore.readAll(accounts)).events.length > 0;
  if (hasAccounts && (await notedLogId(kept.secrets)) === undefined)
    throw unknownLog(config, beginning.logId);
}

/** Which log it is, from now on. `adopts`: also where it is another one now. @throws other_log; what the stores throw */
export async function noteLog(
  kept: KeptBeside,
  config: Config,
  logId: string,
  adopts?: string,
): Promise<void> {
  const { secrets, foldStore, deliveryQueue } = kept;
  const record = { value: logId };
  if (adopts === undefined) await secrets.putIfAbsent(LOG_SECRET, record, runtimeDeps.clock());
  else await secrets.put(LOG_SECRET, record);
  for (const group of projectionGroups)
    await changeBuilds({ readStore: foldStore, newId: runtimeDeps.newId }, group, (builds) =>
      builds.logId === logId || (builds.logId && !adopts) ? builds : { ...builds, logId },
    );
  if (adopts !== undefined) {
    const queue = await deliveryQueue();
    const place = await queue.routed();
    if (place) await queue.noteRouted({ ...place, logId });
  }
  // Of two logs at once beside the same stores one has come first.
  await refuseOtherLog(kept, config, adopts);
}

/** Undefined of secrets that have been beside no log yet. @throws what the store throws */
export async function notedLogId(secrets: Pick<Secrets, "get">): Promise<string | undefined> {
  const secret = await secrets.get(LOG_SECRET, runtimeDeps.clock());
  return secret === undefined ? undefined : String(secret);
}

async function notedBy({ secrets, foldStore, deliveryQueue }: KeptBeside): Promise<Map<Kept, string>> {
  const noted = new Map<Kept, string>();
  const bySecrets = await notedLogId(secrets);
  if (bySecrets !== undefined) noted.set("secrets", bySecrets);
  for (const group of projectionGroups) {
    const { logId } = await readBuilds(foldStore, group);
    if (logId !== undefined) noted.set("documents", logId);
  }
  const routed = (await orUndefined(deliveryQueue().then((queue) => queue.routed())))?.logId;
  if (routed !== undefined) noted.set("deliveries", routed);
  return noted;
}

function otherLog(config: Config, what: Kept, of: string, logId: string | undefined): Refused {
  return new Refused(
    "other_log",
    `The ${what} in ${placeOf(config, what)} belong to the log ${of}, but ${logOf(config)} is ${logId ?? "none yet"}: ${suspected(config)}? Nothing was changed. ${
      logId === undefined
        ? `A new log wants ${config.eventStoreUrl === undefined ? "an empty DATA_DIR" : "an empty database"}.`
        : meant(logId)
    }`,
  );
}

function unknownLog(config: Config, logId: string): Refused {
  return new Refused(
    "other_log",
    `The secrets in ${placeOf(config, "secrets")} have never been beside the log ${logId}, which has accounts, whose addresses and keys would be missing: ${suspected(config)}, or were the secrets not put back? Nothing was changed. ${meant(logId)}`,
  );
}

function meant(logId: string): string {
  return `If they are meant to go together: linkledger log adopt ${logId}`;
}

function suspected({ eventStoreUrl }: Config): string {
  return eventStoreUrl === undefined
    ? "are files of two services in one DATA_DIR"
    : "is EVENTSTORE_URL, EVENTSTORE_PREFIX or MONGODB_URL that of another service";
}

function logOf({ eventStoreUrl, eventStorePrefix = "", dataDir }: Config): string {
  return eventStoreUrl === undefined
    ? `the log in events.db of ${dataDir}`
    : `the log of EVENTSTORE_URL under the prefix "${eventStorePrefix}"`;
}

const FILES = { secrets: "secrets.db", documents: "read.db", deliveries: "deliveries.db" };

function placeOf({ eventStoreUrl, dataDir }: Config, what: Kept): string {
  return eventStoreUrl === undefined ? `${FILES[what]} of ${dataDir}` : "MONGODB_URL";
}
