// What tests of builds share: events, programs of one version and the next, and the stored builds.
import { pino } from "pino";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { activeReadStore } from "../../../src/projections/builds/active-read-store.ts";
import { queriedBuild } from "../../../src/projections/builds/build.ts";
import { readBuilds } from "../../../src/projections/builds/builds-document.ts";
import { ProjectionGroup } from "../../../src/projections/builds/projection-group.ts";
import { registerProjections } from "../../../src/projections/builds/register-builds.ts";
import { type LinkClicksDocument, linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { allProjections } from "../../../src/projections/groups.ts";
import { collectionsOf, type Projection } from "../../../src/projections/projection.ts";
import { ProjectionRunner } from "../../../src/projections/runner/runner.ts";
import { readWholeLife } from "../../../src/queries/analytics/link-days.ts";
import { breakdownSum } from "../../../src/queries/analytics/sums.ts";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import type { Document, ReadStore } from "../../../src/stores/read-store/port.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../event-store/stored-events.ts";
import { append } from "../runtime/stores.ts";

export type BuildsFixture = { eventStore: EventStore; readStore: ReadStore; cleanUp(): Promise<void> };

export const CLICKS = "clicks-a-20260301";
export const LINK = "sho.rt/l0";
const log = pino({ level: "silent" });

export const totalsOfNow = linkClicks as unknown as Projection;

/** The next version of the projection: another fold, with its own collection. */
export const totalsOfNext: Projection = {
  ...totalsOfNow,
  version: linkClicks.version + 1,
  collection: { name: "link-clicks-next", indexes: [] },
  evolve: (document, event, ...rest) =>
    ({ ...totalsOfNow.evolve(document, event, ...rest), next: true }) as typeof document,
};

export const projectionsOfNext = allProjections.map((one) =>
  one.name === linkClicks.name ? totalsOfNext : one,
);

/** The parts of a process whose program has these projections. */
export function programOn(stores: BuildsFixture, projections: readonly Projection[] = allProjections) {
  const { eventStore, readStore } = stores;
  const deps = { ...runtimeDeps, eventStore, readStore, log };
  let now = 0;
  // An advancing clock, so that the list of builds is never cached.
  const clock = () => (now += 1_000);
  const queried = activeReadStore({ store: readStore, projections, clock });
  return {
    deps,
    queried,
    register: () => registerProjections(deps, projections),
    catchUp: () => new ProjectionRunner({ ...deps, projections }).catchUp(),
    /** For the one link. */
    totals: () => {
      const named = projections.find(({ name }) => name === linkClicks.name);
      return queried.get<LinkClicksDocument>(named?.collection.name ?? "", LINK);
    },
    /** For the one link. */
    async breakdowns() {
      const deps = { readStore: queried, sleep: runtimeDeps.sleep };
      const { clicks, earlier } = await readWholeLife(deps, LINK, []);
      const sum = breakdownSum();
      for (const day of [clicks?.day, earlier])
        for (const kind of Object.values(day?.kinds ?? {})) sum.add(kind);
      return sum.result().breakdowns;
    },
    /** Of the projection's active build. */
    async documents(projection: Projection) {
      const build = queriedBuild(projection, await readBuilds(readStore));
      return await readStore.find<Document>(build?.collection.name ?? "", { limit: 100_000 });
    },
    /** With their parts. */
    async documentsAndParts(projection: Projection) {
      const build = queriedBuild(projection, await readBuilds(readStore));
      const all = (build ? collectionsOf(build) : []).map(({ name }) =>
        readStore.find<Document>(name, { limit: 100_000 }),
      );
      return (await Promise.all(all)).flat();
    },
    /** Runs the group as a projector does, until `work` has ended. */
    async projecting(work: (group: ProjectionGroup) => Promise<void>, folds = true) {
      const group = new ProjectionGroup({ ...deps, projections });
      const stopping = new AbortController();
      const running = [group.build(stopping.signal), ...(folds ? [group.run(stopping.signal)] : [])];
      try {
        await work(group);
      } finally {
        stopping.abort();
        await Promise.all(running);
      }
    },
  };
}

/** 20 links with 40 clicks each, in streams of three writers: 820 events. */
export async function happenings(eventStore: EventStore): Promise<void> {
  for (let n = 0; n < 20; n++)
    await append(eventStore, `link-sho.rt/l${n}`, [linkCreated({ slug: `l${n}`, accountId: ACCOUNT })]);
  for (let turn = 0; turn < 40; turn++) {
    const clicks = Array.from({ length: 20 }, (_, n) =>
      linkClicked({
        link: `sho.rt/l${n}`,
        kind: (["click", "preview", "qr_scan"] as const)[turn % 3] ?? "click",
        at: `2026-03-0${1 + (turn % 5)}T1${turn % 10}:15:00.000Z`,
        country: ["FR", "DE", "JP"][(turn + n) % 3] ?? "",
        referrer: `https://site-${(turn * n) % 7}.example/`,
      }),
    );
    await append(eventStore, `clicks-${"abc"[turn % 3]}-20260301`, clicks);
  }
}
