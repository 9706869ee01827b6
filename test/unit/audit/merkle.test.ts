// Merkle trees as RFC 6962 defines them, with the vectors of Certificate Transparency's own tests.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leafHash, merkleRoot, pruned } from "../../../src/audit/seals/merkle.ts";

/** Of certificate-transparency/python/ct/crypto/merkle_test.py: roots over the first leaves. */
const INPUTS = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
];
const ROOTS: Record<number, string> = {
  0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};
const leaves = (texts: readonly string[]) => texts.map((text) => ({ hash: leafHash(text), events: 1 }));

describe("a Merkle root", () => {
  it.each(Object.entries(ROOTS))("over the first %s leaves is that of the reference", (size, root) => {
    // Only leaves below 0x80 survive as text; these all do.
    const texts = INPUTS.slice(0, Number(size)).map((hex) => Buffer.from(hex, "hex").toString("latin1"));
    expect(merkleRoot(leaves(texts))?.toString("hex")).toBe(root);
  });

  it("is the same over any part of its leaves and the hashes of the rest", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 70 }), (shown) => {
        const all = shown.map((_, n) => leafHash(String(n)));
        const parts = pruned(all, (n) => shown[n] === true);
        expect(merkleRoot(parts)).toEqual(merkleRoot(all.map((hash) => ({ hash, events: 1 }))));
        expect(parts.reduce((sum, { events }) => sum + events, 0)).toBe(all.length);
      }),
    );
  });

  it("is undefined over parts that are in no such tree", () => {
    const [a, b] = leaves(["a", "b"]) as [{ hash: Buffer; events: number }, { hash: Buffer; events: number }];
    expect(merkleRoot([a, { ...b, events: 2 }])).toBeUndefined();
  });
});
