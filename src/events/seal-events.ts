// Events of `seals`: signed digests over the log, which reveal later changes of earlier events.
import { z } from "zod";
import { eventType } from "./definition.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const base64 = z.base64();

export const sealEvents = {
  LogSealed: eventType(
    "A block of the log was sealed: ten thousand events, or those since the seal before.",
    {
      at: z.iso.datetime().describe("When it happened"),
      number: z.int().min(0).describe("Counts seals from 0, as the stream's revision does"),
      after: z.string().describe("Position that the seal before reaches; empty for the first"),
      position: z.string().describe("Position of the block's last event"),
      events: z.int().min(0).describe("Number of events in the block"),
      total: z.int().min(0).describe("Number of events in this block and all before"),
      root: digest.describe("Root of the Merkle tree (RFC 6962) over the block's events, SHA-256"),
      chain: digest.describe("SHA-256 of the chain of the seal before and all leaves of this block"),
      previous: digest.describe("Leaf hash of the seal before, as it was recorded; zeros for the first"),
      places: base64.describe("Stream, revision and position of each event: JSON, compressed with zstd"),
      leaves: base64.describe("The first four bytes of each leaf hash"),
      tags: base64.describe("Four bytes for each event that only the holder of the key can make"),
      publicKey: z.base64url().describe("Ed25519, 32 bytes"),
      signature: base64.describe("Ed25519 over the canonical JSON (RFC 8785) of all other members"),
    },
  ),
};
