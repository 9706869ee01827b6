// One seal: what is signed, and what the next seal says of it.
import type { LogSealed } from "../../events/catalogue.ts";
import { rootOf, sha256 } from "./merkle.ts";
import { packPlaces, type Runs } from "./places.ts";
import { isSignedBy, type SealKeys } from "./seal-keys.ts";

export type Seal = LogSealed["data"];

/** Without what it keeps of each event, which names streams of everybody: what an account is given. Hashes in hex. */
export type ShownSeal = Omit<Seal, "places" | "marks"> & { placesHash: string; marksHash: string };

/** What is kept elsewhere of a seal: its hash binds it and all before it. */
export type KnownSeal = { number: number; hash: string };

/** Events of a full block: the seal of ten thousand stays far below EventStoreDB's megabyte for an append. */
export const BLOCK_EVENTS = 10_000;

/** Bytes that are kept of each leaf hash: they only tell which event it was, the root that there was one. */
const MARK_BYTES = 4;

const NONE = "0".repeat(64);

/** What is signed, in this order, a line each: no member can hold the end of a line. */
const SIGNED = [
  ...["number", "at", "after", "position", "events", "total"],
  ...["root", "previous", "placesHash", "marksHash", "publicKey"],
] as const;

/** Of all events since the seal before, in order; `position`: of the last one. */
export type Block = { runs: Runs; leaves: readonly Buffer[]; position: string; at: string };

/** `last`: undefined for the first seal. */
export function makeSeal(keys: SealKeys, last: Seal | undefined, block: Block): Seal {
  const { runs, leaves, position, at } = block;
  const unsigned = {
    at,
    number: last === undefined ? 0 : last.number + 1,
    after: last?.position ?? "",
    position,
    events: leaves.length,
    total: (last?.total ?? 0) + leaves.length,
    root: rootOf(leaves),
    previous: last ? sealHash(last) : NONE,
    places: packPlaces(runs),
    marks: Buffer.concat(leaves.map((leaf) => leaf.subarray(0, MARK_BYTES))).toString("base64"),
    publicKey: keys.publicKey,
  };
  return { ...unsigned, signature: keys.sign(signedText(unsigned)) };
}

/** Hex: what the next seal says in `previous`. */
export function sealHash(seal: Seal | ShownSeal): string {
  return sha256(`${signedText(seal)}\n${seal.signature}`).toString("hex");
}

/** By the key that it names, whoever's that is. */
export function isSignedByItsKey(seal: Seal | ShownSeal): boolean {
  return isSignedBy(seal.publicKey, signedText(seal), seal.signature);
}

export function markOf(leaf: Buffer): string {
  return leaf.toString("hex", 0, MARK_BYTES);
}

/** Of each event, in order. */
export function marksOf({ marks }: Seal): string[] {
  const bytes = Buffer.from(marks, "base64");
  return Array.from({ length: Math.ceil(bytes.length / MARK_BYTES) }, (_, n) =>
    bytes.toString("hex", n * MARK_BYTES, (n + 1) * MARK_BYTES),
  );
}

type Unsigned<S> = S extends unknown ? Omit<S, "signature"> : never;

function signedText(seal: Unsigned<Seal | ShownSeal>): string {
  const shown = shownSeal(seal);
  return SIGNED.map((name) => shown[name]).join("\n");
}

export function shownSeal<S extends Unsigned<Seal | ShownSeal>>(seal: S) {
  if (!("places" in seal)) return seal as Exclude<S, { places: string }>;
  const { places, marks, ...rest } = seal as Extract<S, { places: string }>;
  const hex = (text: string) => sha256(text).toString("hex");
  return { ...rest, placesHash: hex(places), marksHash: hex(marks) };
}

/** Such as `seal:19:` and 64 hex digits; undefined for other text. */
export function parseAnchor(text: string): KnownSeal | undefined {
  const [, number, hash] = /^seal:(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  return number === undefined || hash === undefined ? undefined : { number: Number(number), hash };
}

export function anchorText({ number, hash }: KnownSeal): string {
  return `seal:${number}:${hash}`;
}
