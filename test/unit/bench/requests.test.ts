// The requests of the benchmarks' load.
import { expect, it } from "vitest";
import { requestsOf } from "../../../bench/traffic/requests.ts";

it("requests other images in each run, none from an address that has used its limit up", () => {
  const limit = 1_000;
  const asked = [1, 2, 3].flatMap((seed) => {
    const next = requestsOf({ kind: "images", links: 10 }, seed);
    return Array.from({ length: 3_000 }, next);
  });
  expect(new Set(asked.map((request) => request.split(" ")[1])).size).toBe(asked.length);
  const ofAddress = Object.groupBy(asked, (request) => request.split("x-forwarded-for: ")[1] ?? "");
  for (const requests of Object.values(ofAddress)) expect(requests?.length).toBeLessThanOrEqual(limit);
});
