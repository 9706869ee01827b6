// Host names: however they are written, they are the same plain string, and what is none is "".
import { domainToUnicode } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { streamNamed } from "../../../src/events/streams.ts";
import { canonicalHost, hostName } from "../../../src/runtime/addresses/host-name.ts";

const MIXTURES: readonly ((host: string) => string)[] = [
  (host) => host.toUpperCase(),
  (host) => domainToUnicode(host),
  (host) => domainToUnicode(host).normalize("NFD"),
  (host) => `${host}.`,
  (host) => `${domainToUnicode(host)}。`,
  (host) => `${host}:443`,
  (host) => `  ${host}:3000\t`,
  (host) => encodeURIComponent(domainToUnicode(host)),
];
const AS_ADDRESS: readonly ((host: string) => string)[] = [
  (host) => host,
  (host) => `https://${host}`,
  (host) => `HTTP://${host}/`,
  (host) => `//${host}`,
  (host) => `${host}/`,
];

const hosts = fc.constantFrom(
  "go.example.com",
  "xn--mller-kva.example",
  "xn--r8jz45g.xn--zckzah",
  "localhost",
);

describe("host names", () => {
  it.each([
    ["Go.Example.COM:8080", "go.example.com"],
    ["go.example.com.", "go.example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["[::1]:3000", "[::1]"],
    ["", ""],
    ["a b", ""],
    ["ex/ample", ""],
    ["https://go.example.com", ""],
  ])("a Host header of %j is of %j", (header, host) => {
    expect(canonicalHost(header)).toBe(host);
  });

  it("are the same in any case, script, with a port, a last dot and as an address", () => {
    fc.assert(
      fc.property(
        hosts,
        fc.constantFrom(...MIXTURES),
        fc.constantFrom(...AS_ADDRESS),
        (host, mix, address) => {
          expect(hostName(address(mix(host).trim()))).toBe(host);
          expect(hostName(mix(host))).toBe(host);
        },
      ),
    );
  });

  it.each([
    "",
    " ",
    "https://",
    "go.example.com/page",
    "go.example.com?x",
    "me@go.example.com",
    "a b",
    "ftp://go.example.com",
  ])("%j is none", (written) => {
    expect(hostName(written)).toBe("");
  });

  it("are found in the names of streams", () => {
    fc.assert(
      fc.property(hosts, fc.constantFrom(...MIXTURES), (host, mix) => {
        for (const category of ["link", "withdrawals"])
          expect(streamNamed(`${category}-${mix(host).trim()}/Hallo`)).toBe(`${category}-${host}/hallo`);
        expect(streamNamed(`domain-${mix(host)}`)).toBe(`domain-${host}`);
      }),
    );
    for (const name of ["seals", "account-A", "clicks-w-20260301"]) expect(streamNamed(name)).toBe(name);
  });

  it("are what they were when they are read again", () => {
    const written = fc.oneof(fc.webUrl(), fc.domain(), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(written, (text) => {
        expect(hostName(hostName(text))).toBe(hostName(text));
      }),
    );
  });
});
