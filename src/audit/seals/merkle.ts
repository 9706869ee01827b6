// Merkle trees over events, exactly those of RFC 6962, section 2.1: one hash binds a block, and a part of it can be shown
// without the rest.
import { hash } from "node:crypto";
import type { StoredText } from "../../stores/event-store/port.ts";

const LEAF = "\0";
const NODE = 1;
const HASH_BYTES = 32;

/** All that is stored of an event, as the one line of JSON that is hashed and exported. Data and metadata are texts in it. */
export function lineOf(event: StoredText): string {
  const { id, stream, revision, position, type, recordedAt, data, metadata } = event;
  return JSON.stringify([id, stream, revision, position, type, recordedAt, data, metadata]);
}

/** `line`: of lineOf. */
export function leafHash(line: string): Buffer {
  return sha256(LEAF + line);
}

/** A leaf, or a subtree of `events` leaves of which only the hash is known. */
export type Part = { hash: Buffer; events: number };

/** The root over all parts in their order; undefined when a subtree isn't one of a tree of so many leaves. */
export function merkleRoot(parts: readonly Part[]): Buffer | undefined {
  let next = 0;
  const node = Buffer.alloc(1 + 2 * HASH_BYTES, NODE);
  function root(size: number): Buffer | undefined {
    const part = parts[next];
    if (part === undefined || part.events > size) return undefined;
    if (part.events === size) {
      next += 1;
      return part.hash;
    }
    const left = largestPowerBelow(size);
    const [first, second] = [root(left), root(size - left)];
    if (!first || !second) return undefined;
    node.set(first, 1);
    node.set(second, 1 + HASH_BYTES);
    return sha256(node);
  }
  const size = parts.reduce((sum, { events }) => sum + events, 0);
  return size === 0 ? sha256(Buffer.alloc(0)) : root(size);
}

/** Hex. */
export function rootOf(leaves: readonly Buffer[]): string {
  return (merkleRoot(leaves.map((hash) => ({ hash, events: 1 }))) as Buffer).toString("hex");
}

/** The fewest parts that have the same root and all leaves for which `isShown` holds. */
export function pruned(leaves: readonly Buffer[], isShown: (leaf: number) => boolean): Part[] {
  const parts: Part[] = [];
  function add(first: number, size: number): void {
    let hidden = 0;
    while (hidden < size && !isShown(first + hidden)) hidden += 1;
    if (hidden === size || size === 1) {
      const tree = leaves.slice(first, first + size).map((hash) => ({ hash, events: 1 }));
      parts.push({ hash: merkleRoot(tree) as Buffer, events: size });
      return;
    }
    const left = largestPowerBelow(size);
    add(first, left);
    add(first + left, size - left);
  }
  if (leaves.length > 0) add(0, leaves.length);
  return parts;
}

/** By way of a text, as a small Buffer made of one shares its memory with others: a fifth less than asking for a Buffer. */
export function sha256(bytes: Uint8Array | string): Buffer {
  return Buffer.from(hash("sha256", bytes, "binary"), "binary");
}

function largestPowerBelow(size: number): number {
  return 2 ** (31 - Math.clz32(size - 1));
}
