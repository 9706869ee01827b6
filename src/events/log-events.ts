// Events of the log itself: of `log`, on which hangs what it is read from and what may be kept beside it, and of `seals`:
// signed digests, which reveal later changes of earlier events.
import { z } from "zod";
import { eventType } from "./definition.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const base64 = z.base64();
/** Of either store. */
const position = z.string().regex(/^[\d:]*$/);

export const sealEvents = {
  LogSealed: eventType(
    "A block of the log was sealed: ten thousand events, or those since the seal before.",
    {
      at: z.iso.datetime().describe("When it happened"),
      number: z.int().min(0).describe("Counts seals from 0, as the stream's revision does"),
      after: position.describe("Position that the seal before reaches; empty for the first"),
      position: position.describe("Position of the block's last event"),
      events: z.int().min(0).describe("Number of events in the block, earlier seals counted"),
      total: z.int().min(0).describe("Number of events in this block and all before"),
      root: digest.describe("Root of the Merkle tree (RFC 6962) over the block's events, SHA-256"),
      previous: digest.describe("SHA-256 of the seal before and its signature; zeros for the first"),
      places: base64.describe("Stream, first revision and number of events that follow: JSON, by zlib"),
      marks: base64.describe("The first four bytes of each leaf hash"),
      publicKey: z.base64url().describe("Ed25519, 32 bytes"),
      signature: base64.describe("Ed25519 over the other members, a line each (docs/audit.md)"),
    },
  ),
};

export const logEvents = {
  LogBegun: eventType("The log began: the first service or command had found none on the event store.", {
    at: z.iso.datetime().describe("When it happened"),
    logId: z.uuid().describe("Which log it is: what is kept beside the log remembers it"),
    after: z
      .string()
      .regex(/^[\d:]+$/)
      .optional()
      .describe("Position in the store behind which the log is read; absent: from the store's start"),
  }),
};
