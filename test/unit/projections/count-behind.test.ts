// Counting the events that projections have still to fold.
import { expect, it } from "vitest";
import { clickProjections, lifecycleProjections } from "../../../src/projections/groups.ts";
import { countBehind } from "../../../src/projections/runner/count-behind.ts";
import type { ProjectionStatus } from "../../../src/projections/runner/status.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { append, openStores } from "../../support/runtime/stores.ts";

const status = (name: string, position: string | null, behind = true): ProjectionStatus => ({
  ...{ name, version: 1, build: 0, position, head: null, behind },
  ...{ lagMs: 0, waitsFor: null, setAside: { count: 0, events: [] }, processed: 0, answers: "this" },
});

it("counts the events that each projection has not folded, with one read for equal positions", async () => {
  const stores = await openStores();
  const { eventStore } = stores;
  const first = await append(eventStore, "clicks-a-20260301", [linkClicked()]);
  await append(eventStore, "clicks-a-20260301", [linkClicked(), linkClicked()]);
  const reads: unknown[] = [];
  const watched = {
    readAll: (options: Parameters<typeof eventStore.readAll>[0]) => {
      reads.push(options);
      return eventStore.readAll(options);
    },
  };
  const [ahead, ...others] = clickProjections.map(({ name }) => name);
  const statuses = [
    status(String(ahead), first.position),
    ...others.map((name) => status(name, null)),
    ...lifecycleProjections.map(({ name }) => status(name, null, false)),
  ];
  const projections = [...clickProjections, ...lifecycleProjections];
  const behind = await countBehind(watched, projections, statuses);
  expect(behind.get(String(ahead))).toBe(2);
  expect(others.map((name) => behind.get(name))).toEqual(others.map(() => 3));
  expect(lifecycleProjections.map(({ name }) => behind.get(name))).toEqual(lifecycleProjections.map(() => 0));
  expect(reads).toHaveLength(2);
  await stores.close();
});
