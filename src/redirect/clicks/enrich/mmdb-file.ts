// Looks up addresses in a file of the MaxMind DB format and keeps little of it in memory: most of the file is the search
// tree, of which only the blocks used last are kept; the operating system caches the file once for all processes.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import ipaddr from "ipaddr.js";
import { type Metadata, parseMetadata } from "mmdb-lib/lib/metadata.js";
import { memoize } from "../../../runtime/memoize.ts";

/** By `require`, as the default export of a CommonJS module is imported differently by Node and by test runners. */
const { default: Decoder }: typeof import("mmdb-lib/lib/decoder.js") = createRequire(import.meta.url)(
  "mmdb-lib/lib/decoder.js",
);

/** `undefined` for an address that the database doesn't know, or of a family that it doesn't have. */
export type Lookup<R> = { get(address: string): R | undefined };

/** Of the specification (https://maxmind.github.io/MaxMind-DB): the metadata are in the last 128 KB. */
const MOST_METADATA_BYTES = 128 * 1024;
const SEPARATOR_BYTES = 16;
/** What comes before an IPv4 address in a tree of IPv6 addresses. */
const IPV4_PREFIX = new Array<number>(12).fill(0);
/** 16 MB of the tree, allocated as they are filled: random addresses all over the world are then looked up as fast as in memory. */
const MAX_BLOCKS = 4_096;
const BLOCK_BYTES = 4_096;
/** Results of `read`, of some 200 bytes. */
const MAX_RECORDS = 20_000;

/**
 * `read`: returns what is kept of a decoded record. The file stays open until the process ends. Addresses of one record get
 * the same object while it is memoized. Addresses must be valid. @throws when the file can't be read
 */
export function openMmdbFile<R extends object>(file: string, read: (record: unknown) => R): Lookup<R> {
  const descriptor = openSync(file, "r");
  try {
    const { size } = fstatSync(descriptor);
    const metadata = parseMetadata(readPart(descriptor, Math.max(0, size - MOST_METADATA_BYTES), size));
    const records = readPart(descriptor, metadata.searchTreeSize + SEPARATOR_BYTES, size);
    const decoder = new Decoder(records);
    const recordAt = memoize(MAX_RECORDS, (offset: number) => read(decoder.decode(offset).value));
    const search = treeSearch(descriptor, metadata);
    const { nodeCount, ipVersion } = metadata;
    const rootOfIpv4 = ipVersion === 6 ? search(0, IPV4_PREFIX) : 0;
    return {
      get(address) {
        const isIpv6 = address.includes(":");
        if (isIpv6 && ipVersion === 4) return undefined;
        const found = isIpv6
          ? search(0, ipaddr.IPv6.parse(address).toByteArray())
          : search(rootOfIpv4, address.split(".").map(Number));
        // The node count itself stands for "no record".
        return found > nodeCount ? recordAt(found - nodeCount - SEPARATOR_BYTES) : undefined;
      },
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Goes down from a node, a bit a step, to the last node or to a record: records are numbered from the node count on. */
type Search = (from: number, bytes: readonly number[]) => number;

function treeSearch(descriptor: number, { nodeCount, nodeByteSize }: Metadata): Search {
  const nodesPerBlock = Math.floor(BLOCK_BYTES / nodeByteSize);
  const blocks = blockCache(descriptor, nodesPerBlock * nodeByteSize);
  return (from, bytes) => {
    let node = from;
    let block = -1;
    let start = 0;
    for (let bit = 0; bit < bytes.length * 8 && node < nodeCount; bit++) {
      const needed = Math.floor(node / nodesPerBlock);
      if (needed !== block) {
        block = needed;
        start = blocks.startOf(block);
      }
      const at = start + (node - block * nodesPerBlock) * nodeByteSize;
      node = childOf(blocks.bytes, at, nodeByteSize, ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
    }
    return node;
  };
}

/** One of the two numbers in a node, of 24, 28 or 32 bits each. */
function childOf(tree: Buffer, at: number, nodeByteSize: number, side: number): number {
  if (nodeByteSize === 8) return tree.readUInt32BE(at + 4 * side);
  if (nodeByteSize === 6) return tree.readUIntBE(at + 3 * side, 3);
  const middle = tree[at + 3] ?? 0;
  return (side === 0 ? middle >> 4 : middle & 15) * 2 ** 24 + tree.readUIntBE(at + 4 * side, 3);
}

/** Replaces a block that was not used since the last round over all. */
function blockCache(descriptor: number, length: number) {
  const bytes = Buffer.alloc(MAX_BLOCKS * length);
  const slots = new Map<number, number>();
  const blocks = new Array<number | undefined>(MAX_BLOCKS).fill(undefined);
  const used = new Uint8Array(MAX_BLOCKS);
  let next = 0;

  const load = (block: number): number => {
    while (used[next] === 1) {
      used[next] = 0;
      next = (next + 1) % MAX_BLOCKS;
    }
    const evicted = blocks[next];
    if (evicted !== undefined) slots.delete(evicted);
    blocks[next] = undefined;
    readSync(descriptor, bytes, next * length, length, block * length);
    blocks[next] = block;
    slots.set(block, next);
    return next;
  };
  return {
    bytes,
    /** Where the block begins in `bytes`. @throws when the file can't be read */
    startOf(block: number): number {
      const slot = slots.get(block) ?? load(block);
      used[slot] = 1;
      return slot * length;
    },
  };
}

function readPart(descriptor: number, from: number, to: number): Buffer {
  const part = Buffer.alloc(Math.max(0, to - from));
  const read = readSync(descriptor, part, 0, part.length, from);
  if (read < part.length) throw new RangeError("the file is shorter than its metadata say");
  return part;
}
