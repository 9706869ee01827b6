// Whatever is counted, withdrawn, restored, classified anew or recorded late: the numbers at two moments are what a plain count
// of the log says, and the reasons between them add up exactly.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import type { LinkledgerEvent } from "../../src/events/catalogue.ts";
import { PRESENT_RULES } from "../../src/events/classification/classify.ts";
import { CLICK_KINDS, type ClickKind } from "../../src/events/vocabulary.ts";
import {
  type ChangesOfNumbers,
  changesOfNumbers,
  REASONS,
} from "../../src/queries/analytics/changes/changes-of-numbers.ts";
import { tableReader } from "../../src/queries/analytics/counting/table-reader.ts";
import { whenCounted } from "../../src/queries/analytics/when-counted.ts";
import { pause } from "../../src/runtime/pause.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { foldGroups } from "../support/projections/fold-groups.ts";
import { foldTables } from "../support/projections/fold-tables.ts";
import { effort } from "../support/runtime/effort.ts";
import { append, openStores, type Stores } from "../support/runtime/stores.ts";

const OWN = "11111111-1111-4111-8111-111111111111";
const OTHER = "22222222-2222-4222-8222-222222222222";
const LINKS = ["localhost/one", "localhost/two"] as const;
const BOT = "Googlebot/2.1 (+http://www.google.com/bot.html)";
const PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const DAY_MS = 86_400_000;
const START = Date.now() - 10 * DAY_MS;
const at = (tenths: number) => new Date(START + tenths * (DAY_MS / 10)).toISOString();
/** When a click happened: just when it was recorded (null), or before. */
const moment = fc.option(fc.integer({ min: 0, max: 99 }));
const tenth = fc.integer({ min: 0, max: 99 });

type Step =
  | {
      step: "click";
      link: number;
      isOwn: boolean;
      tenths: number | null;
      kind: ClickKind;
      isBot: boolean;
      isOld: boolean;
    }
  | { step: "withdraw"; link: number; from: number; length: number; bots: boolean }
  | { step: "restore"; which: number }
  | { step: "rules"; isReclassified: boolean };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      step: fc.constant("click" as const),
      link: fc.nat(1),
      isOwn: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
      tenths: moment,
      kind: fc.constantFrom(...CLICK_KINDS),
      isBot: fc.boolean(),
      isOld: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant("withdraw" as const),
      link: fc.nat(1),
      from: tenth,
      length: fc.integer({ min: 1, max: 80 }),
      bots: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant("restore" as const), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant("rules" as const), isReclassified: fc.boolean() }) },
);

const question = fc.record({
  since: fc.nat(40),
  until: fc.nat(40),
  link: fc.option(fc.nat(1)),
  range: fc.option(fc.tuple(tenth, tenth), { freq: 2 }),
  kind: fc.option(fc.constantFrom(...CLICK_KINDS), { freq: 1 }),
});
type Question = typeof question extends fc.Arbitrary<infer Q> ? Q : never;

/** What happened, told plainly; `n`: in the order of the log. */
type Past = {
  clicks: {
    n: number;
    link: string;
    isOwn: boolean;
    at: string;
    kind: ClickKind;
    isBot: boolean;
    isOld: boolean;
  }[];
  withdrawals: {
    n: number;
    id: string;
    link: string;
    from: string;
    to: string;
    bots: boolean;
    ended?: number;
  }[];
  rules: { n: number; isReclassified: boolean }[];
};

function countAt(past: Past, n: number, link: string | undefined, from: string, to: string) {
  const counts: Record<ClickKind, number> = { click: 0, preview: 0, qr_scan: 0 };
  const isReclassified = past.rules.findLast((one) => one.n <= n)?.isReclassified ?? false;
  const isOut = (click: Past["clicks"][number]) =>
    past.withdrawals.some(
      (one) =>
        one.n <= n &&
        !(one.ended !== undefined && one.ended <= n) &&
        one.link === click.link &&
        click.n < one.n &&
        click.at >= one.from &&
        click.at < one.to &&
        (!one.bots || click.isBot),
    );
  for (const click of past.clicks) {
    const isIn = click.n <= n && click.isOwn && (link === undefined || click.link === link);
    if (!isIn || click.at < from || click.at >= to || isOut(click)) continue;
    const present = click.isBot ? "preview" : "click";
    const isChanged = isReclassified && click.isOld && click.kind !== "qr_scan";
    counts[isChanged ? present : click.kind] += 1;
  }
  return counts;
}

/** What happened in between is listed, also where another change has taken it away again. */
function expectCancelled(
  past: Past,
  found: ChangesOfNumbers,
  [first, last]: readonly [number, number],
  link: string | undefined,
  [from, to]: readonly [string, string],
): void {
  const isAsked = (click: Past["clicks"][number]) =>
    click.isOwn && (link === undefined || click.link === link) && click.at >= from && click.at < to;
  const hitsOf = (reasons: readonly string[], id?: string) =>
    found.changes
      .filter(({ reason, withdrawal }) => reasons.includes(reason) && withdrawal?.id === id)
      .reduce((sum, { hits }) => sum + hits.click + hits.preview + hits.qr_scan, 0);
  const recorded = past.clicks.filter((click) => isAsked(click) && click.n > first && click.n <= last);
  expect(hitsOf(["added", "counted_late"])).toBe(recorded.length);
  const selects = (one: Past["withdrawals"][number], click: Past["clicks"][number]) =>
    one.link === click.link &&
    click.n < one.n &&
    click.at >= one.from &&
    click.at < one.to &&
    (!one.bots || click.isBot);
  for (const one of past.withdrawals) {
    if (one.n <= first || one.n > last) continue;
    const isOut = (click: Past["clicks"][number]) =>
      past.withdrawals.some(
        (other) => other.n < one.n && !((other.ended ?? one.n) < one.n) && selects(other, click),
      );
    const taken = past.clicks.filter((click) => isAsked(click) && selects(one, click) && !isOut(click));
    expect(hitsOf(["withdrawn"], one.id)).toBe(-taken.length || 0);
  }
}

const seen = new Set<string>();
afterAll(() => expect([...seen].sort()).toEqual([...REASONS].sort()));

/** Of the log as it is. */
async function check(
  stores: Stores,
  past: Past,
  positions: readonly string[],
  asked: Question,
): Promise<void> {
  // A restoring of nothing leaves the log empty.
  if (positions.length === 0) return;
  const [first, last] = [asked.since, asked.until].map((n) => n % positions.length).sort((a, b) => a - b) as [
    number,
    number,
  ];
  const link = asked.link === null ? undefined : LINKS[asked.link];
  const { kind } = asked;
  const [from, to] = (asked.range ?? []).sort((a, b) => a - b).map((n) => START + n * (DAY_MS / 10));
  const found = await changesOfNumbers(
    { ...stores, reader: tableReader(stores), counted: whenCounted({ ...stores, sleep: pause }) },
    {
      ...{
        accountId: OWN,
        filters: { ...(link && { link: [link] }), ...(kind && { kind: [kind] }) },
        from,
        to,
      },
      since: { position: positions[first] as string },
      until: { position: positions[last] as string },
    },
  );
  const range = [
    from === undefined ? "" : new Date(from).toISOString(),
    to === undefined ? "~" : new Date(to).toISOString(),
  ] as const;
  const wanted = (counts: Record<ClickKind, number>) =>
    kind === null ? counts : { click: 0, preview: 0, qr_scan: 0, [kind]: counts[kind] };
  expect(found.before).toEqual(wanted(countAt(past, first, link, ...range)));
  expect(found.after).toEqual(wanted(countAt(past, last, link, ...range)));
  if (kind === null) expectCancelled(past, found, [first, last], link, range);
  for (const kind of CLICK_KINDS) {
    const changed = found.changes.reduce((sum, { hits }) => sum + hits[kind], 0);
    expect([kind, found.before[kind] + changed]).toEqual([kind, found.after[kind]]);
  }
  for (const { reason, hits, withdrawal, kinds } of found.changes) {
    seen.add(reason);
    const all = CLICK_KINDS.map((kind) => hits[kind]);
    const total = all.reduce((sum, one) => sum + one, 0);
    if (reason === "reclassified") {
      if (kind === null) expect(total).toBe(0);
      expect(kinds?.from === kinds?.to).toBe(false);
    } else
      expect([
        reason,
        all.every((one) => (reason === "withdrawn" ? one <= 0 : one >= 0)),
        total !== 0,
      ]).toEqual([reason, true, true]);
    expect([reason, withdrawal !== undefined]).toEqual([
      reason,
      reason === "withdrawn" || reason === "restored",
    ]);
  }
}

it("says why a number changed, and the reasons add up to it exactly", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 1, maxLength: 40, size: "max" }),
      fc.array(question, { minLength: 8, maxLength: 8 }),
      fc.gen().map((g) => (size: number) => g(fc.nat, size - 1)),
      async (sequence, questions, pick) => {
        const stores = await openStores();
        try {
          const positions: string[] = [];
          const past: Past = { clicks: [], withdrawals: [], rules: [] };
          const note = async (stream: string, event: LinkledgerEvent) => {
            await append(stores.eventStore, stream, [event]);
            positions.push(String(await stores.eventStore.head()));
            return positions.length - 1;
          };
          for (const one of sequence) {
            if (one.step === "click") {
              const { isOwn, kind, isBot, isOld } = one;
              // A link has one owner.
              const link = isOwn ? (LINKS[one.link] as string) : "localhost/theirs";
              const happened = one.tenths === null ? new Date().toISOString() : at(one.tenths);
              const click = linkClicked({
                ...{ link, kind, at: happened, accountId: isOwn ? OWN : OTHER },
                ...{ userAgent: isBot ? BOT : PERSON, rules: isOld ? "an older one" : PRESENT_RULES },
              });
              const n = await note("clicks-test-20260101", click);
              past.clicks.push({ n, link, isOwn, at: happened, kind, isBot, isOld });
            } else if (one.step === "withdraw") {
              const link = LINKS[one.link] as string;
              const [host = "", slug = ""] = link.split("/");
              const [from, to, id] = [at(one.from), at(one.from + one.length), randomUUID()];
              const data = {
                ...{
                  host,
                  slug,
                  accountId: OWN,
                  at: new Date().toISOString(),
                  withdrawalId: id,
                  from,
                  to,
                  reason: "tests",
                },
                ...{ upTo: positions.at(-1) ?? "", clicks: { click: 0, preview: 0, qr_scan: 0 } },
                ...(one.bots && { userAgent: "googlebot" }),
              };
              const n = await note(`withdrawals-${link}`, { type: "ClicksWithdrawn", data });
              past.withdrawals.push({ n, id, link, from, to, bots: one.bots });
            } else if (one.step === "restore") {
              const open = past.withdrawals.filter(({ ended }) => ended === undefined);
              const withdrawal = open[one.which % Math.max(1, open.length)];
              if (!withdrawal) continue;
              const [host = "", slug = ""] = withdrawal.link.split("/");
              const data = {
                host,
                slug,
                accountId: OWN,
                at: new Date().toISOString(),
                withdrawalId: withdrawal.id,
              };
              withdrawal.ended = await note(`withdrawals-${withdrawal.link}`, {
                type: "ClicksRestored",
                data,
              });
            } else {
              const { isReclassified } = one;
              const data = {
                ...{ at: new Date().toISOString(), projections: ["clicks"] },
                ...(isReclassified && { rules: PRESENT_RULES }),
              };
              const n = await note("operator-202601", { type: "ProjectionRebuildRequested", data });
              past.rules.push({ n, isReclassified });
            }
          }
          if (pick(2) === 0) await foldGroups(stores);
          else await foldTables(stores, pick);
          for (const asked of questions) await check(stores, past, positions, asked);
        } finally {
          await stores.close();
        }
      },
    ),
    { numRuns: effort(60, 400) },
  );
}, 600_000);
