// A verification of a log as a test needs it: by the key of open-sealed-log.ts, with nothing noted outside.
import { type LogVerification, type VerificationOptions, verifyLog } from "../../../src/audit/verify-log.ts";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { KEYS } from "./keys.ts";

type Log = Pick<EventStore, "read" | "readStored" | "structureProblems">;

export async function verified(
  eventStore: Log,
  options: Partial<VerificationOptions> = {},
): Promise<LogVerification> {
  const trust = { publicKeys: [KEYS.publicKey], keyOrigin: "of SECRET_KEY" };
  return await verifyLog({ eventStore }, { trust, ...options });
}
