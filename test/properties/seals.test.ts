// Whatever is edited below the seals of a log, the events and seals concerned are named.
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { type LastSeal, leafOf, makeSeal, sealHash } from "../../src/audit/seals/seal.ts";
import { sealKeysOf } from "../../src/audit/seals/seal-keys.ts";
import type { RecordedEvent } from "../../src/stores/event-store/port.ts";
import { problemsOf, recordedSeal, type SealedLog, sealedLog, sealOf } from "../support/audit/sealed-log.ts";
import { linkClicked, linkCreated, position, stored } from "../support/event-store/stored-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";

const EDITS = effort(100, 400);

const keys = sealKeysOf("the service's own key");
const forger = sealKeysOf("somebody else's");
const [BLOCKS, BLOCK] = [3, 4];

const untouched = sealedLog(
  Array.from({ length: BLOCKS }, (_, block) =>
    Array.from({ length: BLOCK }, (_, n) => {
      const at = block * BLOCK + n;
      const event = n === 1 ? linkCreated({ slug: `l${block}` }) : linkClicked({ city: `city ${at}` });
      const [stream, revision] =
        n === 1 ? [`link-sho.rt/l${block}`, 0] : ["clicks-a-20260301", at - block - (n > 1 ? 1 : 0)];
      // Gaps, in which something can be inserted.
      return { ...stored(at, event, stream), revision, position: position(10 * at + 10) };
    }),
  ),
  keys,
);

/** What is moved behind it has no seal. */
const END = position(10 * BLOCKS * BLOCK);

type Place = { stream: string; revision: number; position: string };
/** `places`: of which at least one must be named. */
type Edited = { log: SealedLog; places: Place[][] };
type Edit = (log: SealedLog) => Edited;

const nthEvent = fc.nat(BLOCKS * BLOCK - 1);
const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));

const replaceEvent = (log: SealedLog, n: number, change: (event: RecordedEvent) => RecordedEvent): Edited => {
  const index = n % log.events.length;
  const before = log.events[index] as RecordedEvent;
  const after = change(structuredClone(before));
  return { log: { ...log, events: log.events.with(index, after) }, places: [[before, after]] };
};

const changeData = fc
  .record({ n: nthEvent, member: fc.nat(40), to: value, how: fc.constantFrom("set", "remove", "add") })
  .map(
    ({ n, member, to, how }): Edit =>
      (log) =>
        replaceEvent(log, n, (event) => {
          const data = event.data as Record<string, unknown>;
          const name = Object.keys(data)[member % Object.keys(data).length] as string;
          if (how === "set") data[name] = to;
          else if (how === "remove") delete data[name];
          else data[`${name}2`] = to;
          return event;
        }),
  );
const changeMember = fc
  .record({
    n: nthEvent,
    to: fc.oneof(
      fc.record({ type: fc.constantFrom("LinkDeleted", "LinkClicked", "X") }),
      fc.record({ id: fc.uuid() }),
      fc.record({ recordedAt: fc.date({ noInvalidDate: true }).map((at) => at.toISOString()) }),
      fc.record({ stream: fc.constantFrom("clicks-b-20260301", "link-sho.rt/zzz") }),
      fc.record({ revision: fc.nat(50) }),
      fc.record({
        metadata: fc.record({ schemaVersion: fc.integer(), actor: fc.constant({ type: "operator" }) }),
      }),
    ),
  })
  .map(
    ({ n, to }): Edit =>
      (log) =>
        replaceEvent(log, n, (event) => ({ ...event, ...to }) as RecordedEvent),
  );
const movePosition = fc
  .record({ n: nthEvent, by: fc.integer({ min: -9, max: 9 }).filter((by) => by !== 0) })
  .map(
    ({ n, by }): Edit =>
      (log) =>
        replaceEvent(log, n, (event) => ({ ...event, position: position(Number(event.position) + by) })),
  );
const exchange = fc.tuple(nthEvent, nthEvent).map(
  ([a, b]): Edit =>
    (log) => {
      const [m, n] = [a % log.events.length, b % log.events.length];
      const [one, other] = [log.events[m], log.events[n]] as [RecordedEvent, RecordedEvent];
      const events = log.events
        .with(m, { ...one, position: other.position })
        .with(n, { ...other, position: one.position });
      return {
        log: { ...log, events },
        places: m === n ? [] : [[events[m] as RecordedEvent, events[n] as RecordedEvent]],
      };
    },
);
const removeEvents = fc.record({ n: nthEvent, count: fc.integer({ min: 1, max: 5 }) }).map(
  ({ n, count }): Edit =>
    (log) => {
      const first = n % log.events.length;
      const gone = log.events.slice(first, first + count);
      return {
        log: { ...log, events: log.events.toSpliced(first, count) },
        places: gone.map((event) => [event]),
      };
    },
);
/** As somebody would who hides the gap: those behind it in the stream move up. */
const removeAndRenumber = nthEvent.map(
  (n): Edit =>
    (log) => {
      const index = n % log.events.length;
      const gone = log.events[index] as RecordedEvent;
      const isBehind = ({ stream, revision }: RecordedEvent) =>
        stream === gone.stream && revision > gone.revision;
      const moved = (event: RecordedEvent) => ({ ...event, revision: event.revision - 1 });
      const events = log.events.toSpliced(index, 1).map((event) => (isBehind(event) ? moved(event) : event));
      const places = [gone, ...log.events.filter(isBehind).map(moved)].map((event) => [event]);
      return { log: { ...log, events }, places };
    },
);
const insertEvent = fc.record({ n: nthEvent, by: fc.integer({ min: 1, max: 9 }), copy: fc.boolean() }).map(
  ({ n, by, copy }): Edit =>
    (log) => {
      const before = log.events[n % log.events.length] as RecordedEvent;
      // Behind the last event is behind the last seal.
      const at = position(Number(before.position) - by);
      const event = copy
        ? { ...before, position: at }
        : { ...stored(99, linkClicked(), "clicks-z-20260301"), position: at };
      return { log: { ...log, events: [...log.events, event] }, places: [[event]] };
    },
);

const eventEdit = fc.oneof(
  changeData,
  changeMember,
  movePosition,
  exchange,
  removeEvents,
  removeAndRenumber,
  insertEvent,
);

type Forgery = "all but the signatures" | "all, signed with another key" | "all, with tags of their own";

/** Everything anew that needs no key, or with a key of one's own. */
const forge = (log: SealedLog, how: Forgery): SealedLog => {
  let last: LastSeal | undefined;
  const seals = log.seals.map((recorded) => {
    const { position: end, after, ...old } = sealOf(recorded);
    const places = log.events
      .filter((event) => event.position > after && event.position <= end)
      .sort((a, b) => (a.position < b.position ? -1 : 1));
    const made = makeSeal(forger, last, { places, leaves: places.map(leafOf), at: old.at });
    const kept = how === "all, with tags of their own" ? {} : { tags: old.tags };
    const signed =
      how === "all but the signatures" ? { publicKey: old.publicKey, signature: old.signature } : {};
    const seal = { ...made, position: end, after, ...kept, ...signed };
    const forged = recordedSeal(seal);
    last = { seal, hash: sealHash(forged) };
    return forged;
  });
  return { ...log, seals };
};

const changeSeal = fc.record({ n: fc.nat(BLOCKS - 1), member: fc.nat(13), to: fc.nat(1_000_000) }).map(
  ({ n, member, to }): Edit =>
    (log) => {
      const recorded = log.seals[n] as RecordedEvent;
      const data = structuredClone(recorded.data) as Record<string, unknown>;
      const name = Object.keys(data)[member % Object.keys(data).length] as string;
      const old = data[name];
      if (typeof old === "number") data[name] = to;
      else data[name] = flipped(String(old), to);
      return { log: { ...log, seals: log.seals.with(n, { ...recorded, data }) }, places: [[recorded]] };
    },
);
const changeRecordOfSeal = fc
  .record({
    // Of the newest, no other seal speaks yet.
    n: fc.nat(BLOCKS - 2),
    to: fc.oneof(
      fc.record({ id: fc.uuid() }),
      fc.record({ recordedAt: fc.constant("2020-01-01T00:00:00.000Z") }),
      fc.record({ metadata: fc.constant({ schemaVersion: 1, actor: { type: "operator" } }) }),
    ),
  })
  .map(
    ({ n, to }): Edit =>
      (log) => {
        const changed = { ...log.seals[n], ...to } as RecordedEvent;
        return { log: { ...log, seals: log.seals.with(n, changed) }, places: [[changed]] };
      },
  );
const removeSeal = fc.nat(BLOCKS - 2).map(
  (n): Edit =>
    (log) => {
      const gone = log.seals[n] as RecordedEvent;
      return { log: { ...log, seals: log.seals.toSpliced(n, 1) }, places: [[{ ...gone, position: "" }]] };
    },
);
const renumberSeals = fc.nat(BLOCKS - 2).map(
  (n): Edit =>
    (log) => {
      const seals = log.seals.toSpliced(n, 1).map((seal, revision) => ({ ...seal, revision }));
      return { log: { ...log, seals }, places: [seals.slice(n)] };
    },
);
const repeatSeal = fc.tuple(fc.nat(BLOCKS - 1), fc.nat(BLOCKS - 1)).map(
  ([from, to]): Edit =>
    (log) => {
      const { data } = log.seals[from] as RecordedEvent;
      const target = log.seals[to] as RecordedEvent;
      return {
        log: { ...log, seals: log.seals.with(to, { ...target, data }) },
        places: from === to ? [] : [[target]],
      };
    },
);
const sealEdit = fc.oneof(changeSeal, changeRecordOfSeal, removeSeal, renumberSeals, repeatSeal);

const counts = { edits: 0, missed: 0 };
const named = (problems: readonly Place[], places: readonly Place[]) =>
  problems.some((problem) =>
    places.some(
      ({ stream, revision, position: at }) =>
        stream === problem.stream &&
        revision === problem.revision &&
        (at === problem.position || problem.position === ""),
    ),
  );
const isAt = (one: Place, other: Place) =>
  one.stream === other.stream && one.revision === other.revision && one.position === other.position;
const isSame = (one: SealedLog, other: SealedLog) => text(one) === text(other);
const text = ({ events, seals }: SealedLog) =>
  JSON.stringify([[...events].sort((a, b) => (a.position < b.position ? -1 : 1)), seals]);

function expectNamed({ log, places }: Edited): void {
  fc.pre(!isSame(log, untouched));
  counts.edits += 1;
  const problems = problemsOf(log, [keys], [keys.publicKey]);
  const missing = places.filter((some) => !named(problems, some));
  counts.missed += missing.length > 0 ? 1 : 0;
  expect({ missing, problems: missing.length > 0 ? problems : [] }).toEqual({ missing: [], problems: [] });
}

describe("below the seals of a log", () => {
  it("nothing is named when nothing was edited", () => {
    expect(problemsOf(untouched, [keys], [keys.publicKey])).toEqual([]);
    expect(problemsOf(untouched, [], [keys.publicKey])).toEqual([]);
  });

  it("every edited event is named by stream, revision and position", () => {
    fc.assert(
      fc.property(eventEdit, (edit) => expectNamed(edit(untouched))),
      { numRuns: EDITS * 0.5 },
    );
  });

  it.each<Forgery>(["all but the signatures", "all, signed with another key"])(
    "every event that is there and was not is named, also when seals were made anew: %s",
    (how) => {
      fc.assert(
        fc.property(eventEdit, (edit) => {
          const { log, places } = edit(untouched);
          fc.pre(!isSame(log, untouched));
          const isThere = (place: Place) =>
            place.position <= END && log.events.some((one) => isAt(one, place));
          const present = places.map((some) => some.filter(isThere)).filter((some) => some.length > 0);
          const forged = forge(log, how);
          const isUntouched = (seal: RecordedEvent, n: number) =>
            sealOf(seal).signature === sealOf(untouched.seals[n]).signature &&
            sealOf(seal).root === sealOf(untouched.seals[n]).root;
          const seals = forged.seals.filter((seal, n) => !isUntouched(seal, n)).map((seal) => [seal]);
          expectNamed({ log: forged, places: [...present, ...seals] });
        }),
        { numRuns: EDITS * 0.05 },
      );
    },
  );

  it("every seal is named when all was made anew, tags too: nothing is left then to tell events by", () => {
    fc.assert(
      fc.property(eventEdit, (edit) => {
        const log = forge(edit(untouched).log, "all, with tags of their own");
        expectNamed({ log, places: untouched.seals.map((seal) => [seal]) });
      }),
      { numRuns: EDITS * 0.05 },
    );
  });

  it("every edited seal is named", () => {
    fc.assert(
      fc.property(sealEdit, (edit) => expectNamed(edit(untouched))),
      { numRuns: EDITS * 0.2 },
    );
  });

  afterAll(() => printCounts("edits of a sealed log", counts));
});

/** Another character of the same alphabet, somewhere. */
function flipped(text: string, at: number): string {
  if (text === "") return "x";
  const index = at % text.length;
  const [from = "0"] = text[index] ?? "0";
  const to = from === "1" ? "2" : "1";
  return `${text.slice(0, index)}${to}${text.slice(index + 1)}`;
}
