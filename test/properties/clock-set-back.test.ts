// Clocks that were ahead and are set right: whatever is counted, listed, exported, searched or sent again by time has every click
// of it, as a plain look at the log says.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { CLICK_KINDS } from "../../src/events/vocabulary.ts";
import { changesOfNumbers } from "../../src/queries/analytics/changes/changes-of-numbers.ts";
import { hitsIn } from "../../src/queries/analytics/counting/count-rows.ts";
import { tableReader } from "../../src/queries/analytics/counting/table-reader.ts";
import { whenCounted } from "../../src/queries/analytics/when-counted.ts";
import { findClicks, searchClicks } from "../../src/queries/audit/find-clicks.ts";
import { pause } from "../../src/runtime/pause.ts";
import { clickFile, clickPage } from "../../src/transfer/export/account-clicks.ts";
import { clickRows } from "../../src/transfer/export/click-rows.ts";
import { replayFrom } from "../../src/webhooks/owner-tools/replay-webhook.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { ACCOUNT, linkClicked, linkCreated, OTHER_ACCOUNT } from "../support/event-store/stored-events.ts";
import { accountQuestionsOf } from "../support/projections/account-questions.ts";
import { foldGroups } from "../support/projections/fold-groups.ts";
import { rangesOf } from "../support/projections/range-of.ts";
import { effort } from "../support/runtime/effort.ts";
import { append, openStores, type Stores } from "../support/runtime/stores.ts";

const START = Date.parse("2026-03-01T09:00:00.000Z");
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LINK = "sho.rt/abc";
const THEIRS = { link: "sho.rt/theirs", accountId: OTHER_ACCOUNT };
const WEBHOOK = "aaaaaaaa-0000-4000-8000-000000000001";

/** `log`, `writer`: how far the clock of the event store, and of who takes the click, is ahead, in hours. */
const step = fc.record({
  minutes: fc.nat(100),
  log: fc.constantFrom(0, 0, 0, 3, -1),
  writer: fc.constantFrom(0, 0, 0, 3, -1),
  clicks: fc.integer({ min: 1, max: 4 }),
  isOwn: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
  isFolded: fc.boolean(),
});
const minute = fc.integer({ min: -240, max: 1_500 });
const lives = fc.record({
  steps: fc.array(step, { minLength: 2, maxLength: 14, size: "max" }),
  ranges: fc.array(fc.tuple(minute, minute), { minLength: 4, maxLength: 4 }),
});

type Recorded = LinkClicked["data"] & { id: string; position: string; recordedAt: string };

it("loses no click by a clock that was ahead and was set right", { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(lives, async ({ steps, ranges }) => {
      let recorded = START;
      const stores = await openStores({ clock: () => new Date(recorded) });
      const { eventStore } = stores;
      try {
        await append(eventStore, `account-${ACCOUNT}`, [opened, added]);
        await append(eventStore, `link-${LINK}`, [linkCreated({ at: iso(START) })]);
        let now = START;
        for (const { minutes, log, writer, clicks, isOwn, isFolded } of steps) {
          now += minutes * MINUTE_MS;
          recorded = now + log * HOUR_MS;
          const at = iso(now + writer * HOUR_MS);
          const events = Array.from({ length: clicks }, (_, n) =>
            linkClicked({ at, kind: n % 2 === 0 ? "click" : "qr_scan", ...(!isOwn && THEIRS) }),
          );
          await append(eventStore, "clicks-w-20260301", events);
          if (isFolded) await foldGroups(stores);
        }
        await foldGroups(stores);
        const all = await clicksOf(stores);
        for (const [a, b] of ranges) {
          const [from, to] = [a, b].map((minutes) => START + minutes * MINUTE_MS).sort((x, y) => x - y);
          if (from !== undefined && to !== undefined && from < to)
            await expectRange(stores, all, from, to, new Date(now + 4 * HOUR_MS));
        }
      } finally {
        await stores.close();
      }
    }),
    { numRuns: effort(20, 100), interruptAfterTimeLimit: 120_000 },
  );
});

const of = { accountId: ACCOUNT, at: iso(START) };
const opened = { type: "AccountOpened", data: { ...of, tier: "developer" } } as const;
const added = {
  type: "WebhookAdded",
  data: {
    ...{ ...of, webhookId: WEBHOOK, url: "https://hooks.example/", label: "", keyHint: "abcd" },
    kinds: ["click", "qr_scan"] as ["click", "qr_scan"],
  },
} as const;

async function clicksOf({ eventStore }: Stores): Promise<Recorded[]> {
  const events = await loggedEvents(eventStore, { categories: ["clicks"], limit: 10_000 });
  return events.map(({ data, id, position, recordedAt }) => ({
    ...(data as LinkClicked["data"]),
    ...{ id, position, recordedAt },
  }));
}

async function expectRange(
  stores: Stores,
  all: readonly Recorded[],
  from: number,
  to: number,
  now: Date,
): Promise<void> {
  const { eventStore, readStore } = stores;
  const isIn = (time: string) => Date.parse(time) >= from && Date.parse(time) < to;
  const own = all.filter(({ accountId }) => accountId === ACCOUNT);
  const happened = idsOf(own.filter(({ at }) => isIn(at)));
  const period = { from: iso(from), to: iso(to) };

  const numbers = await accountQuestionsOf(stores, now)({ from, to });
  expect(["numbers of the account", numbers.totals.people]).toEqual([
    "numbers of the account",
    happened.length,
  ]);
  const ofLink = await rangesOf(stores, now)({ ...period, interval: "hour" });
  expect(["numbers of the link", ofLink.totals.total]).toEqual(["numbers of the link", happened.length]);

  const reading = { ...stores, reader: tableReader(stores) };
  const question = { accountId: ACCOUNT, filters: {}, kinds: CLICK_KINDS, zone: "UTC", from, to };
  const page = await clickPage(reading, question, undefined, 100);
  expect(["pages", page.clicks.map((click) => click.event_id)]).toEqual(["pages", happened]);
  const file = (
    await Array.fromAsync(clickFile(reading, question, { format: "ndjson", columns: "of link" }))
  ).join("");
  const lines = file.split("\n").filter((line) => line !== "");
  expect(["file", lines.map((line) => JSON.parse(line).event_id)]).toEqual(["file", happened]);
  for (const accountId of [ACCOUNT, undefined]) {
    const selection = { accountId, from: new Date(from), to: new Date(to) };
    const rows = (await Array.fromAsync(clickRows(stores, selection))).flat();
    const wanted = all.filter(
      (click) => isIn(click.at) && click.accountId === (accountId ?? click.accountId),
    );
    expect(["export", rows.map(({ eventId }) => eventId)]).toEqual(["export", idsOf(wanted)]);
  }

  const searching = { eventStore, readStore, clock: () => now, baseHost: "sho.rt" };
  const search = async (account?: string) => {
    const find = {
      ...searching,
      findClicks: (asked: Parameters<typeof findClicks>[1]) => findClicks(stores, asked),
    };
    const found: string[] = [];
    let after: string | null | undefined;
    do {
      const next = await searchClicks(find, { ...period, account, limit: 3, ...(after && { after }) });
      found.push(...next.events.map(({ id }) => id));
      after = next.next;
    } while (after);
    return found;
  };
  const isRecordedIn = ({ recordedAt }: Recorded) => isIn(recordedAt);
  expect(["find-clicks", await search()]).toEqual(["find-clicks", idsOf(all.filter(isRecordedIn))]);
  expect(["find-clicks", await search(ACCOUNT)]).toEqual(["find-clicks", idsOf(own.filter(isRecordedIn))]);

  const counted = whenCounted({ ...stores, sleep: pause });
  const asOf = (time: number) => {
    const last = all.findLast(({ recordedAt }) => Date.parse(recordedAt) <= time)?.position ?? "";
    return own.filter(({ position }) => position <= last).length;
  };
  const changes = await changesOfNumbers(
    { ...reading, counted },
    { accountId: ACCOUNT, filters: {}, since: { time: from }, until: { time: to } },
  );
  expect(["changes", hitsIn(changes.before), hitsIn(changes.after)]).toEqual([
    "changes",
    asOf(from),
    asOf(to),
  ]);

  const sent: string[] = [];
  const enqueue = async (deliveries: readonly { eventId: string }[]) => {
    sent.push(...deliveries.map(({ eventId }) => eventId));
    return deliveries.length;
  };
  const sending = { ...searching, deliveryQueue: { enqueue }, baseUrl: "http://sho.rt" };
  await replayFrom(sending as never, WEBHOOK, new Date(from));
  const since = own.filter(({ recordedAt }) => Date.parse(recordedAt) >= from);
  expect(["replay", sent]).toEqual(["replay", idsOf(since)]);
}

function idsOf(clicks: readonly Recorded[]): string[] {
  return clicks.map(({ id }) => id);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
