// Every event type with its schema, version and upcasters; unknown keys are refused when writing, dropped when reading.
import type { z } from "zod";
import type { EventMetadata, RecordedEvent } from "../event-store/port.ts";
import { accountEvents } from "./account-events.ts";
import { clickEvents } from "./click-events.ts";
import { domainEvents } from "./domain-events.ts";
import { linkEvents } from "./link-events.ts";
import { operatorEvents } from "./operator-events.ts";
import { sealEvents } from "./seal-events.ts";
import { webhookEvents } from "./webhook-events.ts";
import { withdrawalEvents } from "./withdrawal-events.ts";

export const catalogue = {
  ...accountEvents,
  ...webhookEvents,
  ...domainEvents,
  ...linkEvents,
  ...clickEvents,
  ...withdrawalEvents,
  ...sealEvents,
  ...operatorEvents,
} as const;

export type EventType = keyof typeof catalogue;

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(catalogue, type);
}

/** An event of the type, as deciders return it, without an id. */
export type EventOf<T extends EventType> = {
  [K in T]: { type: K; data: z.infer<(typeof catalogue)[K]["schema"]> };
}[T];

/** Of `account-<uuid>`. */
export type AccountEvent = EventOf<keyof typeof accountEvents | keyof typeof webhookEvents>;
export type DomainEvent = EventOf<keyof typeof domainEvents>;
export type LinkEvent = EventOf<keyof typeof linkEvents>;
export type LinkClicked = EventOf<"LinkClicked">;
/** Of `withdrawals-<host>/<slug>`. */
export type WithdrawalEvent = EventOf<keyof typeof withdrawalEvents>;
export type LogSealed = EventOf<"LogSealed">;
/** Of `operator-<yyyymm>`. */
export type OperatorEvent = EventOf<keyof typeof operatorEvents>;
export type LinkledgerEvent = EventOf<EventType>;

/** An event read from the store, upcast and validated, as deciders and projections fold it. */
export type StoredEvent = LinkledgerEvent &
  Pick<RecordedEvent, "id" | "stream" | "revision" | "position" | "recordedAt"> & { metadata: EventMetadata };
