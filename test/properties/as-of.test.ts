// Clocks that jump: a time stands for the log up to the last click, or change of the link, that was recorded by then.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withdrawalStream } from "../../src/events/streams.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { linkClicked, linkCreated, linkDisabled } from "../support/event-store/stored-events.ts";
import { foldGroups } from "../support/projections/fold-groups.ts";
import { rangesOf } from "../support/projections/range-of.ts";
import { clicksWithdrawn } from "../support/projections/withdrawal-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { append, openStores } from "../support/runtime/stores.ts";

const LINK = "sho.rt/abc";
const LINK_STREAM = `link-${LINK}`;
/** Before all of them. */
const AT = "2026-03-01T00:00:00.000Z";
const FIRST = Date.parse("2026-03-02T00:00:00.000Z");
const NOW = new Date("2026-04-01T00:00:00.000Z");
const HOUR_MS = 3_600_000;

/** Around the ends of hours, within some days. */
const moment = fc
  .tuple(fc.oneof(fc.nat(3), fc.nat(60)), fc.constantFrom(0, 1, -1, 1_800_000))
  .map(([hours, ms]) => new Date(FIRST + hours * HOUR_MS + ms).toISOString());
const what = fc.constantFrom("click", "click", "click", "other click", "change", "withdrawal", "other link");
const lives = fc.record({
  created: moment,
  events: fc.array(fc.record({ what, recordedAt: moment }), { minLength: 1, maxLength: 25 }),
  times: fc.array(moment, { minLength: 5, maxLength: 10 }),
  /** So many of the events are in the index of hours. */
  indexed: fc.nat(25),
});

describe("analytics as of a time", () => {
  it("are those of the last event that was recorded by then, and of no link before its creation", async () => {
    let [answered, refused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(lives, async ({ created, events, times, indexed }) => {
        let clock = created;
        const stores = await openStores({ clock: () => new Date(clock) });
        const { eventStore } = stores;
        const project = () => foldGroups(stores);
        try {
          await append(eventStore, LINK_STREAM, [linkCreated({ at: AT })]);
          for (const [n, { what, recordedAt }] of events.entries()) {
            if (n === indexed) await project();
            clock = recordedAt;
            if (what.endsWith("click")) {
              const link = what === "click" ? LINK : "sho.rt/other";
              await append(eventStore, "clicks-w-20260301", [linkClicked({ link, at: AT })]);
            }
            if (what === "change") await append(eventStore, LINK_STREAM, [linkDisabled("abc")]);
            if (what === "other link")
              await append(eventStore, `link-sho.rt/l${n}`, [linkCreated({ slug: `l${n}`, at: AT })]);
            if (what === "withdrawal")
              await append(eventStore, withdrawalStream(LINK), [
                clicksWithdrawn({ link: LINK }, n, { visitor: "0".repeat(16) }),
              ]);
          }
          await project();
          const stored = await loggedEvents(eventStore, {
            categories: ["link", "clicks", "withdrawals"],
            limit: 99,
          });
          const ofLink = stored.filter(({ stream }) => !stream.startsWith("link-") || stream === LINK_STREAM);
          const ask = rangesOf(stores, NOW);
          for (const time of times) {
            if (created > time) {
              refused += 1;
              await expect(ask({ as_of: time })).rejects.toMatchObject({ code: "not_found" });
              continue;
            }
            answered += 1;
            const last = ofLink.findLast(({ recordedAt }) => recordedAt <= time)?.position ?? "";
            const clicks = ofLink.filter(
              ({ data, position }) => (data as { link?: string }).link === LINK && position <= last,
            );
            const { position, totals } = await ask({ as_of: time });
            expect([time, position, totals.total]).toEqual([time, last, clicks.length]);
          }
        } finally {
          await stores.close();
        }
      }),
      { numRuns: effort(20, 40), interruptAfterTimeLimit: 20_000 },
    );
    expect(answered).toBeGreaterThan(20);
    expect(refused).toBeGreaterThan(5);
  });
});
