// One seal: what is signed, what the next seal says of it, and how the events of its block become leaves.

import type { LogSealed } from "../../events/catalogue.ts";
import type { RecordedEvent } from "../../stores/event-store/port.ts";
import { canonicalJson } from "../canonical-json.ts";
import { leafHash, merkleRoot, sha256 } from "./merkle.ts";
import { type Place, packPlaces } from "./places.ts";
import { isSignedBy, MARK_BYTES, type SealKeys } from "./seal-keys.ts";

export type Seal = LogSealed["data"];

/** Events of a full block: the seal of ten thousand stays far below EventStoreDB's megabyte for an append. */
export const BLOCK_EVENTS = 10_000;

const NONE = "0".repeat(64);

/** Each member of the event, its place and its time are bound. */
export function leafOf(event: RecordedEvent): Buffer {
  const { stream, revision, position, id, type, data, metadata, recordedAt } = event;
  return leafHash(canonicalJson([stream, revision, position, id, type, data, metadata, recordedAt]));
}

/** The newest seal as it was recorded: the next one binds all of that event, not its data alone. */
export type LastSeal = { seal: Seal; hash: string };

/** `last`: undefined for the first seal. `places`: of all events since, in order. */
export function makeSeal(
  keys: SealKeys,
  last: LastSeal | undefined,
  { places, leaves, at }: { places: readonly Place[]; leaves: readonly Buffer[]; at: string },
): Seal {
  const before = last?.seal;
  const unsigned = {
    at,
    number: before === undefined ? 0 : before.number + 1,
    after: before?.position ?? "",
    position: places.at(-1)?.position ?? before?.position ?? "",
    events: places.length,
    total: (before?.total ?? 0) + places.length,
    root: rootOf(leaves),
    chain: chainOf(before, leaves),
    previous: last?.hash ?? NONE,
    places: packPlaces(places),
    leaves: marksOf(leaves).toString("base64"),
    tags: keys.tags(leaves).toString("base64"),
    publicKey: keys.publicKey,
  };
  return { ...unsigned, signature: keys.sign(signedText(unsigned)) };
}

/** Of the recorded seal, hex: what the next one says in `previous`. */
export function sealHash(recorded: RecordedEvent): string {
  return leafOf(recorded).toString("hex");
}

/** By the key that it names, whoever's that is. */
export function isSignedByItsKey({ signature, ...rest }: Seal): boolean {
  return isSignedBy(rest.publicKey, signedText(rest), signature);
}

export function rootOf(leaves: readonly Buffer[]): string {
  return (merkleRoot(leaves.map((hash) => ({ hash, events: 1 }))) as Buffer).toString("hex");
}

/** The hash chain over all events since the first, block by block. */
export function chainOf(previous: Pick<Seal, "chain"> | undefined, leaves: readonly Buffer[]): string {
  return sha256(Buffer.concat([Buffer.from(previous?.chain ?? NONE, "hex"), ...leaves])).toString("hex");
}

export function marksOf(leaves: readonly Buffer[]): Buffer {
  return Buffer.concat(leaves.map((leaf) => leaf.subarray(0, MARK_BYTES)));
}

function signedText(unsigned: Omit<Seal, "signature">): string {
  return canonicalJson(unsigned);
}
