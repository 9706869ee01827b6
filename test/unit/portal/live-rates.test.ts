// Events a second of each projection, from how many this process has folded since it was last asked.
import { expect, it } from "vitest";
import { liveRates } from "../../../src/portal/admin/projection-pages.ts";

it("tells events a second since the last question, and the same again within a second", async () => {
  let at = 0;
  let processed = 100;
  const rates = liveRates(
    async () => [
      { name: "links", processed },
      { name: "folded-elsewhere", processed: 0 },
    ],
    () => at,
  );
  expect([...(await rates())]).toEqual([]);
  [at, processed] = [2_000, 500];
  expect([...(await rates())]).toEqual([["links", 200]]);
  [at, processed] = [2_500, 5_000];
  expect([...(await rates())]).toEqual([["links", 200]]);
  // A restarted thread counts from the beginning.
  [at, processed] = [4_000, 10];
  expect([...(await rates())]).toEqual([["links", 0]]);
});
