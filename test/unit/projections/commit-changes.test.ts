// Commits of many documents: in slices, so that other projections of the thread and other writers of the store wait less.
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { clickProjections } from "../../../src/projections/groups.ts";
import { checkpointName } from "../../../src/projections/projection.ts";
import { ProjectionRunner } from "../../../src/projections/runner/runner.ts";
import type { ProjectionCommit, ReadStore } from "../../../src/read-store/port.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";

const LINKS = 1_300;
const SLICE = 1_000;

describe("a commit of many documents", () => {
  let stores: Stores;
  let commits: ProjectionCommit[];

  beforeEach(async () => {
    stores = await openStores();
    commits = [];
    // Every tenth name begins as that of another link does.
    const clicks = Array.from({ length: LINKS }, (_, n) =>
      linkClicked({ link: `sho.rt/${n % 10 ? n : `${n}-b`}` }),
    );
    await append(stores.eventStore, "clicks-a-20260301", clicks);
    await runnerOn(recording(stores.readStore, commits)).catchUp();
  });
  afterEach(async () => await stores.close());

  it("is written at most a thousand documents at a time", () => {
    const sizes = commits.map(({ changed }) =>
      changed.reduce((sum, { documents }) => sum + documents.length, 0),
    );
    expect(Math.max(...sizes)).toBe(SLICE);
    expect(sizes.length).toBe(Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / SLICE));
  });

  it("has all documents of a link in one slice, or in two that follow each other", () => {
    const slicesOfLink = new Map<string, Set<number>>();
    for (const [slice, { changed }] of commits.entries())
      for (const { _id } of changed.flatMap(({ documents }) => documents)) {
        const [link = ""] = _id.split("@");
        slicesOfLink.set(link, (slicesOfLink.get(link) ?? new Set()).add(slice));
      }
    const apart = [...slicesOfLink.values()].map((slices) => Math.max(...slices) - Math.min(...slices));
    expect(Math.max(...apart)).toBeLessThanOrEqual(1);
    expect(apart.filter((slices) => slices > 0).length).toBeLessThan(commits.length);
  });

  it("moves the checkpoints with the last slice, so that a crash before it folds the events again", async () => {
    const moved = commits.map(({ checkpoints }) => Object.keys(checkpoints).length);
    expect(moved).toEqual([...moved.slice(1).map(() => 0), clickProjections.length]);
    const last = commits.at(-1)?.checkpoints[checkpointName(linkClicks)];
    expect(last?.position).toBe(await stores.eventStore.head());
  });

  function runnerOn(readStore: ReadStore): ProjectionRunner {
    const { eventStore } = stores;
    const log = pino({ level: "silent" });
    return new ProjectionRunner({
      ...{ eventStore, readStore, projections: clickProjections, clock: () => new Date(), log },
    });
  }
});

function recording(store: ReadStore, commits: ProjectionCommit[]): ReadStore {
  return new Proxy(store, {
    get(target, name) {
      if (name !== "commit") return (target[name as keyof ReadStore] as () => unknown).bind(target);
      return async (commit: ProjectionCommit) => {
        commits.push(commit);
        await target.commit(commit);
      };
    },
  });
}
