// The decider of withdrawals as given-when-then, and what an operator may ask for.
import { describe, expect, it, onTestFinished } from "vitest";
import { acceptReason } from "../../../src/commands/accept-text.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { selectionOf } from "../../../src/commands/withdrawals/accept-selection.ts";
import type { FindMatching } from "../../../src/commands/withdrawals/decide-withdrawal.ts";
import {
  evolve,
  noWithdrawals,
  restore,
  type WithdrawalsState,
  withdraw,
} from "../../../src/commands/withdrawals/decide-withdrawal.ts";
import { listWithdrawals, withdrawClicks } from "../../../src/commands/withdrawals/withdraw-clicks.ts";
import type { EventOf, LinkClicked, StoredEvent, WithdrawalEvent } from "../../../src/events/catalogue.ts";
import { type ClickKind, STREAM_LIMITS } from "../../../src/events/vocabulary.ts";
import { withdrawnOfAll } from "../../../src/projections/fold/read-withdrawals.ts";
import { matchingClicks } from "../../../src/queries/audit/matching-clicks.ts";
import { namedLink } from "../../../src/queries/links/named-link.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { deciderOf } from "../../support/commands/given-when-then.ts";
import { linkClicked, linkCreated, position } from "../../support/event-store/stored-events.ts";
import {
  clicksRestored,
  clicksWithdrawn,
  withdrawalId,
} from "../../support/projections/withdrawal-events.ts";
import { append, openStores } from "../../support/runtime/stores.ts";

const LINK = { link: "sho.rt/abc" };
const ADDRESS = { host: "sho.rt", slug: "abc" };
const UP_TO = position(7);
const NONE = { click: 0, preview: 0, qr_scan: 0 };
const withdrawals = deciderOf<WithdrawalsState, WithdrawalEvent>(noWithdrawals, evolve);
const [one, two] = [clicksWithdrawn(LINK, 1), clicksWithdrawn(LINK, 2)];

const withdrawing =
  ({ data }: EventOf<"ClicksWithdrawn">, counted: number, inForce: number[] = [], matched = counted) =>
  (state: WithdrawalsState) => {
    const { clicks: _, upTo: __, ...withdrawal } = data;
    const counts = { upTo: UP_TO, matched, counted, kinds: { ...NONE, click: counted } };
    return withdraw(state, withdrawal, { ...counts, inForce: inForce.map(withdrawalId) });
  };
const restoring = (n: number) => (state: WithdrawalsState) => restore(state, clicksRestored(LINK, n).data);
const counting = (event: EventOf<"ClicksWithdrawn">, clicks: number): WithdrawalEvent => ({
  ...event,
  data: { ...event.data, upTo: UP_TO, clicks: { ...NONE, click: clicks } },
});

/** When the link was made: what a selection without a time begins with. */
const CREATED = "2026-01-01T00:00:00.000Z";

describe("withdrawals of a link's clicks", () => {
  it("say how many clicks of each kind go, and up to which position they were counted", () => {
    withdrawals([], withdrawing(one, 7), [counting(one, 7)]);
    withdrawals([one], withdrawing(two, 3, [1], 5), [counting(two, 3)]);
    withdrawals([one, clicksRestored(LINK, 1)], withdrawing(two, 3), [counting(two, 3)]);
  });

  it("are refused when nothing would go, and when they were decided on other numbers", () => {
    withdrawals([], withdrawing(one, 0), "nothing_to_withdraw");
    withdrawals([one], withdrawing(two, 0, [1], 9), "nothing_to_withdraw");
    withdrawals([one], withdrawing(two, 9), "withdrawals_changed");
    withdrawals([one, clicksRestored(LINK, 1)], withdrawing(two, 9, [1]), "withdrawals_changed");
  });

  it("are limited, and may be taken back at the limit", () => {
    const full = Array.from({ length: STREAM_LIMITS.withdrawalsMade }, (_, n) => clicksWithdrawn(LINK, n));
    const inForce = full.map((_, n) => n);
    withdrawals(full, withdrawing(two, 1, inForce), "history_full");
    withdrawals(full, restoring(5), [clicksRestored(LINK, 5)]);
  });
});

describe("what is asked to be withdrawn", () => {
  const now = new Date("2026-03-02T00:00:00.000Z");
  const from = new Date("2026-03-01T00:00:00.000Z");
  const network = (ipPrefix: string) => selectionOf({ from, ipPrefix }, CREATED, now).ipPrefix;

  it("ends now when no end is given, and must begin before it", () => {
    expect(selectionOf({ from }, CREATED, now)).toEqual({ from: from.toISOString(), to: now.toISOString() });
    expect(selectionOf({}, CREATED, now)).toEqual({ from: CREATED, to: now.toISOString() });
    expect(() => selectionOf({ from, to: from }, CREATED, now)).toThrow(
      expect.objectContaining({ code: "invalid_withdrawal" }),
    );
  });

  it.each([
    ["203.0.113.77", "203.0.113.0/24"],
    ["203.0.113.0/24", "203.0.113.0/24"],
    ["203.0.113.9/16", "203.0.0.0/16"],
    ["2001:db8:5:6::7", "2001:db8:5::/48"],
    ["2002:cb00:714d:12::1", "2002:cb00:7100::/40"],
    ["2001:DB8::/32", "2001:db8::/32"],
  ])("has the network of %s as %s, never a whole address", (text, expected) => {
    expect(network(text)).toBe(expected);
  });

  it.each(["203.0.113.0/25", "2001:db8::/64", "203.0.113", "localhost", "", "203.0.113.0/x", "::/-1"])(
    "has no network %s",
    (text) => {
      expect(() => network(text)).toThrow(expect.objectContaining({ code: "invalid_withdrawal" }));
    },
  );

  it("has a visitor code, a part of a user agent and a reason of their lengths", () => {
    expect(selectionOf({ from, visitor: "0123456789abcdef" }, CREATED, now)).toHaveProperty("visitor");
    expect(() => selectionOf({ from, visitor: "0123" }, CREATED, now)).toThrow(
      expect.objectContaining({ code: "invalid_withdrawal" }),
    );
    expect(() => selectionOf({ from, userAgent: " " }, CREATED, now)).toThrow(
      expect.objectContaining({ code: "invalid_withdrawal" }),
    );
    expect(selectionOf({ from, userAgent: "x".repeat(512) }, CREATED, now)).toHaveProperty("userAgent");
    expect(() => selectionOf({ from, userAgent: "x".repeat(513) }, CREATED, now)).toThrow(
      expect.objectContaining({ code: "invalid_withdrawal" }),
    );
    expect(acceptReason("  load test ")).toBe("load test");
    expect(() => acceptReason("  ")).toThrow(expect.objectContaining({ code: "invalid_reason" }));
    expect(() => acceptReason("x".repeat(501))).toThrow(expect.objectContaining({ code: "invalid_reason" }));
  });
});

describe("the clicks that a withdrawal would take", () => {
  it("are counted by day, and shown by the five latest", async () => {
    const stores = await openStores();
    onTestFinished(() => stores.close());
    await append(stores.eventStore, "link-sho.rt/abc", [linkCreated()]);
    const days = [3, 1, 7, 5, 2, 6, 4].map((day) => `2026-03-0${day}T10:00:00.000Z`);
    const clicks = days.map((at) => linkClicked({ at }));
    await append(stores.eventStore, "clicks-w-20260301", clicks);
    const selection = { from: "2026-03-01T00:00:00.000Z", to: "2026-04-01T00:00:00.000Z" };
    const found = await matchingClicks(stores, { host: "sho.rt", slug: "abc" }, selection);
    expect(found).toMatchObject({ matched: 7, counted: 7 });
    expect(found.samples.map(({ at }) => at.slice(8, 10))).toEqual(["07", "06", "05", "04", "03"]);
    expect(Object.keys(found.days)).toEqual([1, 2, 3, 4, 5, 6, 7].map((day) => `2026-03-0${day}`));
  });
});

describe("a withdrawal", () => {
  it("takes exactly the clicks that were counted for it, and none that come meanwhile or later", async () => {
    const stores = await openStores();
    onTestFinished(() => stores.close());
    const { eventStore } = stores;
    const at = "2026-03-01T10:00:00.000Z";
    const clicks = (...kinds: ClickKind[]) =>
      append(
        eventStore,
        "clicks-w-20260301",
        kinds.map((kind) => linkClicked({ at, kind })),
      );
    await append(eventStore, "link-sho.rt/abc", [linkCreated()]);
    const { position: last } = await clicks("click", "qr_scan", "click");
    const find: FindMatching = async (...asked) => {
      const found = await matchingClicks(stores, ...asked);
      // A batch that was late.
      await clicks("click", "preview");
      return found;
    };
    const deps = { ...runtimeDeps, eventStore, matchingClicks: find };
    const request = { from: new Date("2026-03-01T00:00:00.000Z"), reason: "load test" };
    const { withdrawalId } = await withdrawClicks(deps, operator, ADDRESS, request);
    await clicks("click");
    const [made] = await listWithdrawals(deps, ADDRESS);
    expect(made).toMatchObject({ withdrawalId, upTo: last, clicks: { click: 2, preview: 0, qr_scan: 1 } });
    const isWithdrawn = await withdrawnOfAll(stores);
    const recorded = (await eventStore.read("clicks-w-20260301")) as (StoredEvent & LinkClicked)[];
    const state = recorded.map(({ data, position }) => isWithdrawn({ ...data, position }));
    expect(state).toEqual([true, true, true, false, false, false]);
  });
});

it.each(["AbC", "sho.rt/abc", "https://SHO.rt/abc", "http://sho.rt:3000/ABC?x=1"])(
  "a link can be named %s",
  (text) => {
    expect(namedLink(text, "sho.rt")).toEqual({ host: "sho.rt", slug: "abc" });
  },
);

it.each([
  ...["müller.example/Hallo", "MÜLLER.example./hallo", "m%C3%BCller.example/hallo"],
  ...["https://müller.example:443/hallo?x", "xn--mller-kva.example/hallo/"],
])("a link of a host in any script can be named %s", (text) => {
  expect(namedLink(text, "sho.rt")).toEqual({ host: "xn--mller-kva.example", slug: "hallo" });
});

it.each(["", "sho.rt/", "sho.rt/a/b", "https://"])("no link is named %s", (text) => {
  expect(() => namedLink(text, "sho.rt")).toThrow(expect.objectContaining({ code: "invalid_link" }));
});
