// The reader thread as others see it: what may take long, such as searches, exports and QR images; started when it is needed.

import { isRefusalCode, Refused } from "../../commands/refusals.ts";
import type { Config } from "../../config/config.ts";
import { EventNewer } from "../../events/read-event.ts";
import { ProjectionNotBuilt } from "../../projections/builds/errors.ts";
import type { DrawQr } from "../../qr/draw-qr.ts";
import type { MakeLogo } from "../../qr/logo.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import type { ErrorFields } from "../../runtime/error-fields.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { remoteMethods, remoteStreams } from "../../runtime/threads/remote.ts";
import { type Thread, threadOf } from "../../runtime/threads/thread.ts";
import { storeError } from "../../stores/connections/errors.ts";

/** The thread ends after so long without a call. */
const IDLE_MS = 60_000;

/** What the thread refuses is the caller's mistake, which trying again never mends. */
function toError(message: string, cause?: unknown): Error {
  const { type, code, message: words, retryAfter } = (cause ?? {}) as Partial<ErrorFields>;
  if (type === "ProjectionNotBuilt" && words !== undefined && retryAfter !== undefined)
    return new ProjectionNotBuilt(words, retryAfter);
  if (isRefusalCode(code)) return new Refused(code, words, { cause });
  return code === "event_newer" ? new EventNewer(message, { cause }) : storeError(message, cause);
}

const METHODS = [
  "feed",
  "matchingClicks",
  "findClicks",
  "askAccount",
  "linkNumbers",
  "latestClicks",
  "changesOfNumbers",
  "clickPage",
] as const;
const STREAMS = ["followAccount", "exportProof", "exportAccount", "clickFile", "verifyLog"] as const;

export type ReaderData = { config: Config };

export function readerThread(config: Config, log: BasicLogger): Thread {
  const data: ReaderData = { config };
  const file = new URL("./reader-thread.ts", import.meta.url);
  return threadOf({ file, name: "reader", data, toError, log, idleMs: IDLE_MS });
}

export function logReaderIn(reader: Thread): LogReader {
  return {
    ...remoteMethods<LogReader, (typeof METHODS)[number]>(reader, "logReader", METHODS),
    ...remoteStreams<LogReader, (typeof STREAMS)[number]>(reader, "logReader", STREAMS),
  };
}

export function drawQrIn(reader: Thread): DrawQr {
  return remoteMethods<{ draw: DrawQr }, "draw">(reader, "qr", ["draw"]).draw;
}

export function makeLogoIn(reader: Thread): MakeLogo {
  return remoteMethods<{ makeLogo: MakeLogo }, "makeLogo">(reader, "qr", ["makeLogo"]).makeLogo;
}
