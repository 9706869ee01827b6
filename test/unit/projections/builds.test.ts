// What becomes of the builds of a group: each row is a list of builds, what is done, and the list after it.
import { describe, expect, it } from "vitest";
import { PRESENT_RULES } from "../../../src/events/classification/classify.ts";
import {
  type Building,
  type Builds,
  begin,
  beginAnew,
  buildingOf,
  cancel,
  complete,
  dropped,
  keptBuild,
  progressed,
  queriedBuild,
  register,
  rollBack,
} from "../../../src/projections/builds/builds.ts";
import type { Build } from "../../../src/projections/fold/build.ts";

const NOW = { version: 2, readsSince: 1 };
const OLD = { version: 1, readsSince: 1 };
const a: Build = { version: 1, build: 0 };
const b: Build = { version: 2, build: 1 };
const c: Build = { version: 2, build: 2 };
const outdated: Build = { ...b, rules: "1, of before" };

function making(build: Build, more: Partial<Building> = {}): Building {
  const progress = { events: 0, eventsPerSecond: 0, done: 0 };
  return { ...build, isRollback: false, progress, ...more };
}

function list(some: Partial<Builds>): Builds {
  return { retired: [], next: 3, ...some };
}

const TRANSITIONS: [string, Builds, (builds: Builds) => Builds, Builds][] = [
  [
    "a first start on an empty log",
    { retired: [], next: 0 },
    (builds) => register(builds, OLD, { isEmpty: true }),
    { active: a, retired: [], next: 1 },
  ],
  [
    "a first start on a log",
    { retired: [], next: 0 },
    (builds) => register(builds, OLD, { isEmpty: false }),
    { building: making(a), retired: [], next: 1 },
  ],
  [
    "a start with its own build",
    list({ active: b }),
    (builds) => register(builds, NOW, { isEmpty: false }),
    list({ active: b }),
  ],
  [
    "a raised version",
    list({ active: a }),
    (builds) => register(builds, NOW, { isEmpty: false }),
    list({ active: a, building: making({ ...c, build: 3 }), next: 4 }),
  ],
  [
    "an old program beside a newer build",
    list({ active: { version: 0, build: 9 }, building: making(b) }),
    (builds) => register(builds, OLD, { isEmpty: false }),
    list({ active: { version: 0, build: 9 }, building: making(b) }),
  ],
  [
    "a build by rules of before",
    list({ active: outdated }),
    (builds) => register(builds, NOW, { isEmpty: false }),
    list({ active: outdated, building: making({ ...c, build: 3, rules: PRESENT_RULES }), next: 4 }),
  ],
  [
    "a rebuild",
    list({ active: b }),
    (builds) => begin(builds, NOW),
    list({ active: b, building: making({ version: 2, build: 3 }), next: 4 }),
  ],
  [
    "a rebuild in place of another",
    list({ active: b, building: making(c) }),
    (builds) => begin(builds, NOW),
    list({ active: b, building: making({ version: 2, build: 3 }), retired: [c], next: 4 }),
  ],
  [
    "progress",
    list({ active: b, building: making(c) }),
    (builds) => progressed(builds, c, { events: 7, eventsPerSecond: 1, done: 0.5 }),
    list({ active: b, building: making(c, { progress: { events: 7, eventsPerSecond: 1, done: 0.5 } }) }),
  ],
  [
    "progress of one that was cancelled",
    list({ active: b }),
    (builds) => progressed(builds, c, { events: 7, eventsPerSecond: 1, done: 0.5 }),
    list({ active: b }),
  ],
  [
    "a switch",
    list({ active: b, previous: a, building: making(c) }),
    (builds) => complete(builds, c, 9),
    list({ active: { ...c, events: 9 }, previous: b, retired: [a] }),
  ],
  [
    "a switch of one that was cancelled",
    list({ active: b, previous: a }),
    (builds) => complete(builds, c, 9),
    list({ active: b, previous: a }),
  ],
  [
    "a rollback",
    list({ active: c, previous: b }),
    (builds) => rollBack(builds, { ...NOW, name: "clicks" }),
    list({ active: c, previous: b, building: making(b, { isRollback: true }) }),
  ],
  [
    "the switch of a rollback",
    list({ active: c, previous: b, building: making(b, { isRollback: true }) }),
    (builds) => complete(builds, b, 9),
    list({ active: { ...b, events: 9 }, previous: c }),
  ],
  [
    "a cancelled rollback",
    list({ active: c, previous: b, building: making(b, { isRollback: true }) }),
    (builds) => cancel(builds, { name: "clicks" }),
    list({ active: c, previous: b }),
  ],
  [
    "a cancelled rebuild",
    list({ active: b, building: making(c) }),
    (builds) => cancel(builds, { name: "clicks" }),
    list({ active: b, retired: [c] }),
  ],
  [
    "documents of another log",
    list({ active: b, previous: a }),
    (builds) => beginAnew(builds, NOW, b, "of another log"),
    list({
      previous: a,
      building: making({ version: 2, build: 3 }, { because: "of another log" }),
      retired: [b],
      next: 4,
    }),
  ],
  [
    "the same, said again",
    list({ building: making(c) }),
    (builds) => beginAnew(builds, NOW, b, "of another log"),
    list({ building: making(c) }),
  ],
  [
    "dropped documents",
    list({ active: c, retired: [a, b] }),
    (builds) => dropped(builds, [a]),
    list({ active: c, retired: [b] }),
  ],
];

describe("the builds of a group", () => {
  it.each(TRANSITIONS)("after %s", (_, before, change, after) => {
    const kept = structuredClone(before);
    expect(change(before)).toEqual(after);
    expect(before).toEqual(kept);
  });

  it("are refused a rollback to what there is not, or what the program can't fold on", () => {
    for (const builds of [
      list({ active: b }),
      list({ active: b, previous: a }),
      list({ active: c, previous: outdated }),
    ])
      expect(() => rollBack(builds, { ...NOW, name: "clicks" })).toThrow(
        expect.objectContaining({ code: "no_previous_build" }),
      );
  });

  it("keep a first build, without which there is no answer", () => {
    expect(() => cancel(list({ building: making(a) }), { name: "clicks" })).toThrow(
      expect.objectContaining({ code: "nothing_else_answers" }),
    );
  });

  it("are read and folded by the program of their version, and read by a newer one", () => {
    const upgraded = list({ active: b, previous: a, building: making(c) });
    expect([queriedBuild(OLD, upgraded), keptBuild(OLD, upgraded), buildingOf(OLD, upgraded)]).toEqual([
      a,
      a,
      undefined,
    ]);
    expect([queriedBuild(NOW, upgraded), keptBuild(NOW, upgraded)]).toEqual([b, b]);
    expect(buildingOf(NOW, upgraded)).toMatchObject(c);
    expect(queriedBuild(NOW, list({ active: a }))).toEqual(a);
    expect(queriedBuild({ ...NOW, readsSince: 2 }, list({ active: a }))).toBeUndefined();
    expect(keptBuild(NOW, list({ active: outdated }))).toBeUndefined();
  });
});
