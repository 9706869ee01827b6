// Whatever is done to a link, whenever the job runs, late, twice at once or after a restart, and whatever clocks do: each end that
// a visitor meets is noted once, no other, and one that lies in the future again is open again. Against a plain model, on real stores.
import fc from "fast-check";
import { expect, it } from "vitest";
import { loadStream } from "../../src/commands/handle-command.ts";
import { change, changeByOperator, create, freeLink, type LinkState } from "../../src/commands/links/link.ts";
import { foldedLink, onLink } from "../../src/commands/links/link-stream.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import type { LinkEvent } from "../../src/events/catalogue.ts";
import { CLOCK_SKEW_MS } from "../../src/runtime/moment.ts";
import { linkEnds } from "../../src/service/jobs/link-ends.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { foldGroups, silent } from "../support/projections/fold-groups.ts";
import { effort } from "../support/runtime/effort.ts";
import { append, openStores } from "../support/runtime/stores.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const MINUTE_MS = 60_000;
const accountId = "11111111-1111-4111-8111-111111111111";
const context = { requestId: "test", actor: { type: "operator" } } as const;

type Act =
  | { act: "expires"; inMinutes: number | null }
  | { act: "limit"; most: number | null }
  | { act: "disable" | "enable" | "delete" | "restore" }
  | { act: "block" | "unblock" }
  | { act: "clicks"; people: number }
  | { act: "wait"; minutes: number }
  /** A clock that is wrong for a while, in which the job runs, unless it stays so. */
  | { act: "clock"; minutes: number; stays: boolean }
  | { act: "fold" }
  | { act: "run"; times: 1 | 2; isNew: boolean };

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant("expires" as const),
      inMinutes: fc.option(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(2_000))),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("limit" as const),
      most: fc.option(fc.integer({ min: 1, max: 4 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constantFrom("disable", "enable", "delete", "restore", "block", "unblock"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant("clicks" as const), people: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant("wait" as const), minutes: fc.integer({ min: 1, max: 40 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant("clock" as const),
      minutes: fc.constantFrom(-1_440, 1_440, -2_880, 2_880, -3, 3),
      stays: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ act: "fold" } as const) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("run" as const),
      times: fc.constantFrom(1, 2),
      isNew: fc.boolean(),
    }),
  },
);

/** What is true of the link, told plainly. */
type Model = {
  expiresAt: number | null;
  most: number | null;
  disabled: boolean;
  deleted: boolean;
  blocked: boolean;
  people: number;
};

it("each end of a link that a visitor meets is noted once, and nothing else is", async () => {
  let ran = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 4, maxLength: 30 }), async (sequence) => {
      const slug = `link${++ran}`;
      const stores = await openStores();
      let now = START;
      const deps = { ...runtimeDeps, ...stores, clock: () => new Date(now), log: silent };
      const model: Model = {
        expiresAt: null,
        most: null,
        disabled: false,
        deleted: false,
        blocked: false,
        people: 0,
      };
      const noted: { end: string; model: Model; now: number }[] = [];
      const address = { host: "localhost", slug };
      const state = async () => (await loadStream(stores.eventStore, foldedLink("localhost", slug))).state;
      const at = () => new Date(now).toISOString();
      let job = linkEnds(deps);
      const endsIn = async () => {
        const events = await stores.eventStore.read(`link-localhost/${slug}`, {});
        return events.filter(({ type }) => /^Link(Expired|Reopened|LimitReached)$/.test(type));
      };
      const run = async (times: number) => {
        const before = (await endsIn()).length;
        const { signal } = new AbortController();
        await Promise.all(Array.from({ length: times }, () => job(signal)));
        for (const { type, data } of (await endsIn()).slice(before)) {
          const { expiresAt, maxClicks } = data as { expiresAt?: string; maxClicks?: number };
          noted.push({ end: `${type} ${expiresAt ?? maxClicks}`, model: { ...model }, now });
        }
      };
      const decide = (by: (link: LinkState) => readonly LinkEvent[]) =>
        onLink(deps, context, address, by).then(
          () => true,
          () => false,
        );
      try {
        await decide((link) =>
          create(link, {
            ...{ ...address, accountId, via: "api", custom: false, createdAt: at() },
            ...{ longUrl: "https://example.com/", shortUrl: `http://localhost/${slug}` },
          }),
        );
        for (const one of [
          ...sequence,
          { act: "fold" } as const,
          { act: "run", times: 1, isNew: true } as const,
        ]) {
          if (one.act === "wait") now += one.minutes * MINUTE_MS;
          else if (one.act === "clock") {
            now += one.minutes * MINUTE_MS;
            await foldGroups(stores);
            await run(1);
            if (!one.stays) now -= one.minutes * MINUTE_MS;
          } else if (one.act === "fold") await foldGroups(stores);
          else if (one.act === "run") {
            if (one.isNew) job = linkEnds(deps);
            now += MINUTE_MS;
            await run(one.times);
          } else if (one.act === "clicks") {
            const clicks = Array.from({ length: one.people }, () =>
              linkClicked({ link: `localhost/${slug}`, accountId, at: at() }),
            );
            await append(stores.eventStore, "clicks-test-20260101", clicks);
            model.people += one.people;
          } else if (one.act === "block" || one.act === "unblock") {
            const wanted =
              one.act === "block"
                ? ({ type: "block", reason: "Phishing", legal: false } as const)
                : ({ type: "unblock" } as const);
            if (await decide((link) => changeByOperator(link, { at: at(), change: wanted })))
              model.blocked = one.act === "block";
          } else if (one.act === "expires" || one.act === "limit") {
            const expiresAt =
              one.act === "expires" && one.inMinutes !== null ? now + one.inMinutes * MINUTE_MS : null;
            const options =
              one.act === "expires"
                ? { expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString() }
                : { maxClicks: one.most };
            const isMade = await decide((link) =>
              change(link, { by: accountId, at: at(), change: { type: "set", options } }),
            );
            if (isMade && one.act === "expires") model.expiresAt = expiresAt;
            if (isMade && one.act === "limit") model.most = one.most;
          } else {
            const type = one.act;
            if (await decide((link) => change(link, { by: accountId, at: at(), change: { type } }))) {
              if (type === "disable" || type === "enable") model.disabled = type === "disable";
              else model.deleted = type === "delete";
            }
          }
        }
        // Nothing was noted that a visitor did not meet at that moment, and nothing twice in a row.
        for (const { end, model: was, now: then } of noted) {
          if (end.startsWith("LinkReopened")) {
            expect(end).toBe(`LinkReopened ${new Date(was.expiresAt ?? 0).toISOString()}`);
            expect(was.expiresAt).toBeGreaterThan(then + CLOCK_SKEW_MS);
            continue;
          }
          expect([end, was.disabled || was.deleted || was.blocked]).toEqual([end, false]);
          if (end.startsWith("LinkExpired")) {
            expect(end).toBe(`LinkExpired ${new Date(was.expiresAt ?? 0).toISOString()}`);
            expect(was.expiresAt).toBeLessThanOrEqual(then);
          } else {
            expect(end).toBe(`LinkLimitReached ${was.most}`);
            expect(was.people).toBeGreaterThanOrEqual(was.most ?? Number.POSITIVE_INFINITY);
          }
        }
        for (const type of [/^Link(Expired|Reopened)/, /^LinkLimitReached/]) {
          const ends = noted.map(({ end }) => end).filter((end) => type.test(end));
          expect(ends.filter((end, n) => end === ends[n - 1])).toEqual([]);
        }
        // With documents up to date, what a visitor meets in the end is noted.
        const isMet = !(model.disabled || model.deleted || model.blocked);
        const last = (...types: string[]) =>
          noted.findLast(({ end }) => types.some((type) => end.startsWith(type)))?.end;
        const isEnd = `LinkExpired ${new Date(model.expiresAt ?? 0).toISOString()}`;
        if (isMet && model.expiresAt !== null && model.expiresAt <= now)
          expect(last("LinkExpired", "LinkReopened")).toBe(isEnd);
        // Whatever else a visitor meets, so that it is told when it comes.
        if (model.expiresAt !== null && model.expiresAt > now + CLOCK_SKEW_MS)
          expect(last("LinkExpired", "LinkReopened")).not.toBe(isEnd);
        if (isMet && model.most !== null && model.people >= model.most)
          expect(last("LinkLimitReached")).toBe(`LinkLimitReached ${model.most}`);
        expect((await state()) !== freeLink).toBe(true);
      } finally {
        await stores.close();
      }
    }),
    { numRuns: effort(30, 300) },
  );
}, 600_000);
