// What both deployments open: each store is opened when it is first needed, and answered as it is from then on.
import { type Config, secretKeyOf } from "../../config/config.ts";
import type { JournalDeps } from "../../redirect/clicks/journal.ts";
import type { DailySalts } from "../../redirect/clicks/visitors/daily-salts.ts";
import type { Calls, Served } from "../../runtime/threads/calls.ts";
import type { Leases } from "../../stores/coordination/leases.ts";
import type { Counts } from "../../stores/counts/counts.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { EncryptedSecrets } from "../../stores/secrets/encrypted-secrets.ts";
import { type Keyring, keyringOf } from "../../stores/secrets/keyring.ts";
import type { DeliveryQueue } from "../../webhooks/queue/queue.ts";
import type { BegunLog } from "./begun-log.ts";

export type StoresConfig = Pick<Config, "dataDir"> & Partial<Config>;

export type StoreOptions = {
  /** What embedded stores use, so that HTTP never waits for the disk or a search; all is done in the caller's when absent. */
  threads?: StoreThreads;
  /** How long an append to the embedded log waits for another process's; its own default when absent. */
  lockWithinMs?: number;
  /** Nothing in the data folder changes, so that it may be one that can't be written; not with `threads`. */
  readOnly?: boolean;
  /** The log that is meant to go with what the other stores hold, whichever that is of (same-log.ts). */
  adopts?: string;
  /** They are a running service's, which has prepared them at its start. */
  isPrepared?: boolean;
  /** Called when Redis becomes unavailable or available, and when files had to be made private. */
  log?: (message: string) => void;
};

/** `writer`: for what is flushed to disk. `reader`: for what may take long. Each serves what `served` of its stores says. */
export type StoreThreads = { writer: Pick<Calls, "call">; reader: Pick<Calls, "call"> };

/**
 * Openers throw BadConfig for an address that its driver refuses, StoreUnavailable for a file that can't be opened, and
 * file_altered for an embedded log of another form.
 */
export type Stores = {
  /** Behind its beginning. */
  eventStore(): Promise<EventStore>;
  begun: BegunLog;
  /**
   * Another one at each call, for reading only; events whose text isn't as it was written are unreadable. Embedded its structure
   * is that of the other files beside the log, too.
   */
  openVerifiableLog(): Promise<EventStore>;
  /** For writers of projections: holds the collections of every build. */
  foldStore(): Promise<ReadStore>;
  /** Encrypted at rest. */
  secrets(): Promise<EncryptedSecrets>;
  deliveryQueue(): Promise<DeliveryQueue>;
  /** Among all processes, or embedded among the jobs of this thread only. */
  leases(): Promise<Leases>;
  /** Of all processes that share the data folder, or the servers. */
  counts(): Promise<Counts>;
  /** Undefined where there is none. */
  redis(): Promise<{ readonly unavailable: boolean } | undefined>;
  dailySalts(): Promise<DailySalts>;
  /** Where clicks are stored until the event store has them; undefined for the embedded one, which is on the same disk. */
  journal(): Pick<JournalDeps, "files" | "logId" | "notedLogId"> | undefined;
  /** What the threads of StoreThreads serve; nothing where the stores are servers. */
  served: { writer: Served; reader: Served };
  /** Checks SECRET_KEY and creates missing indexes. @throws StoreUnavailable, secret_key_unknown */
  prepare(): Promise<void>;
  /** Whether `prepare` needs no server, so that it is called before anybody else opens the stores. */
  readonly preparesAtOpening: boolean;
  close(): Promise<void>;
};

/** @throws BadConfig without a SECRET_KEY; where the data folder may be written it is made there */
export function keyringFor(config: StoresConfig, { readOnly }: StoreOptions): Keyring {
  return keyringOf(secretKeyOf(config, { readOnly }), config.secretKeyPrevious);
}

/** By what counts are called where they are kept, so that no address or e-mail is there. */
export function hiddenBy(config: StoresConfig, options: StoreOptions): (name: string) => string {
  const { hashes } = keyringFor(config, options);
  return (name) => hashes(name)[0];
}
