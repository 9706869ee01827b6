// Webhook URLs with an address in a refused network are refused in every notation; public addresses are allowed.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { receiverUrl } from "../../src/webhooks/receiver/receiver-url.ts";
import { addressRefusal } from "../../src/webhooks/receiver/safe-address.ts";
import { effort } from "../support/runtime/effort.ts";

const REFUSED_V4: readonly [network: string, bits: number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["168.63.129.16", 32],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.175.48.0", 24],
];
const REFUSED_V6: readonly [network: string, bits: number][] = [
  ["0:0:0:0:0:0:0:0", 96],
  ["0:0:0:0:0:ffff:0:0", 96],
  ["0:0:0:0:ffff:0:0:0", 96],
  ["64:ff9b:0:0:0:0:0:0", 96],
  ["64:ff9b:1:0:0:0:0:0", 48],
  ["100:0:0:0:0:0:0:0", 64],
  ["2001:0:0:0:0:0:0:0", 23],
  ["2001:db8:0:0:0:0:0:0", 32],
  ["2002:0:0:0:0:0:0:0", 16],
  ["3fff:0:0:0:0:0:0:0", 20],
  ["fc00:0:0:0:0:0:0:0", 7],
  ["fe80:0:0:0:0:0:0:0", 10],
  ["fec0:0:0:0:0:0:0:0", 10],
  ["ff00:0:0:0:0:0:0:0", 8],
  ["4000:0:0:0:0:0:0:0", 2],
];
const closed = { allowPrivate: false };

describe("an address inside a refused network", () => {
  const v4 = inside(REFUSED_V4, (text) => bigOf(text.split("."), 10, 8n), 32n);
  const v6 = inside(REFUSED_V6, (text) => bigOf(text.split(":"), 16, 16n), 128n);

  it("is refused as IPv4 in every notation", () => {
    fc.assert(
      fc.property(
        v4,
        fc.array(fc.constantFrom("d", "o", "x"), { minLength: 4, maxLength: 4 }),
        (address, radix) => {
          expect(addressRefusal(dotted(address), closed)).toBeDefined();
          for (const host of spellings(address, radix)) expectRefused(host);
        },
      ),
      { numRuns: effort(100, 500) },
    );
  });

  it("is refused as IPv6 in every notation", () => {
    fc.assert(
      fc.property(v6, (address) => {
        for (const text of [
          groups(address),
          groups(address).toUpperCase(),
          padded(address),
          withDots(address),
        ]) {
          expect(addressRefusal(text, closed), text).toBeDefined();
          expect(
            addressRefusal(new URL(`https://[${text}]/`).hostname.slice(1, -1), closed),
            text,
          ).toBeDefined();
          expectRefused(`[${text}]`);
        }
      }),
      { numRuns: effort(100, 500) },
    );
  });

  it("is refused when an IPv6 address embeds it, also with private networks allowed", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 32n - 1n), (v4) => {
        const hidden = [
          v4,
          (0xffffn << 32n) | v4,
          (0xffffn << 48n) | v4,
          (0x64ff9bn << 96n) | v4,
          (0x64ff9b0001n << 80n) | v4,
          (0x2002n << 112n) | (v4 << 80n),
          (0x20010000n << 96n) | v4,
          (0x2a00_1450n << 96n) | (0x5efen << 32n) | v4,
          (0x2a00_1450n << 96n) | (0x0200_5efen << 32n) | v4,
        ].filter((address) => address !== 1n);
        for (const address of hidden)
          expect(addressRefusal(groups(address), { allowPrivate: true }), groups(address)).toBeDefined();
      }),
    );
  });
});

describe("a public address", () => {
  it("is allowed", () => {
    const outside = (address: bigint) =>
      !REFUSED_V4.some(
        ([network, bits]) =>
          bigOf(network.split("."), 10, 8n) >> BigInt(32 - bits) === address >> BigInt(32 - bits),
      );
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 32n - 1n).filter(outside), (address) => {
        expect(addressRefusal(dotted(address), closed)).toBeUndefined();
      }),
    );
    for (const address of ["2606:4700:4700::1111", "2a00:1450:4001:81a::200e", "2001:4860:4860::8888"])
      expect(addressRefusal(address, closed)).toBeUndefined();
  });

  it("is distinguished from text that is no address, which is refused", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom("", "010.0.0.1", "1.2.3", "0x7f.0.0.1", "1")),
        (text) => {
          if (!/^[\d.]+$|:/.test(text)) expect(addressRefusal(text, { allowPrivate: true })).toBeDefined();
        },
      ),
    );
    for (const text of ["", "010.0.0.1", "1.2.3", "1", "127.1", "8.8.8.8 "])
      expect(addressRefusal(text, { allowPrivate: true }), text).toBe("not an IP address");
  });
});

function expectRefused(host: string): void {
  expect(() => receiverUrl(`https://${host}/`, closed), host).toThrow(
    expect.objectContaining({ code: "address_refused" }),
  );
}

function inside(networks: readonly [string, number][], parse: (text: string) => bigint, width: bigint) {
  return fc
    .tuple(fc.constantFrom(...networks), fc.bigInt(0n, 2n ** width - 1n))
    .map(([[network, bits], tail]) => parse(network) | (tail & (2n ** (width - BigInt(bits)) - 1n)));
}

function bigOf(parts: readonly string[], radix: number, width: bigint): bigint {
  return parts.reduce((sum, part) => (sum << width) | BigInt(Number.parseInt(part, radix)), 0n);
}

function octets(address: bigint): number[] {
  return [24n, 16n, 8n, 0n].map((shift) => Number((address >> shift) & 255n));
}

function dotted(address: bigint): string {
  return octets(address).join(".");
}

function spellings(address: bigint, radix: readonly string[]): string[] {
  const [a = 0, b = 0] = octets(address);
  const write = (value: number | bigint, how = "d") =>
    how === "o" ? `0${value.toString(8)}` : how === "x" ? `0x${value.toString(16)}` : value.toString();
  const mixed = octets(address)
    .map((octet, index) => write(octet, radix[index]))
    .join(".");
  return [
    mixed,
    `${mixed}.`,
    write(address, radix[0]),
    `${write(a, radix[0])}.${write(address & 0xffffffn, radix[1])}`,
    `${write(a, radix[0])}.${write(b, radix[1])}.${write(address & 0xffffn, radix[2])}`,
    dotted(address).replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    dotted(address).replace(/\d/g, (digit) => `%3${digit}`),
    dotted(address).replaceAll(".", "\u3002"),
  ];
}

function groups(address: bigint): string {
  return padded(address)
    .split(":")
    .map((group) => group.replace(/^0{1,3}/, ""))
    .join(":");
}

function padded(address: bigint): string {
  return (address.toString(16).padStart(32, "0").match(/.{4}/g) ?? []).join(":");
}

function withDots(address: bigint): string {
  return `${groups(address).split(":").slice(0, 6).join(":")}:${dotted(address & 0xffffffffn)}`;
}

it("may have 2,048 characters, and none more", () => {
  const urlOf = (length: number) => "https://example.com/".padEnd(length, "a");
  expect(receiverUrl(urlOf(2_048), closed).href).toHaveLength(2_048);
  expect(() => receiverUrl(urlOf(2_049), closed)).toThrow(/at most 2048 characters/);
});
