// Which clicks withdrawals cover: time, filter, the order of the log, and several withdrawals at a time.
import { describe, expect, it } from "vitest";
import {
  isSelectedBy,
  isWithdrawnBy,
  type Withdrawal,
  type WithdrawnSelection,
  withdrawalsAfter,
} from "../../../src/click-log/withdrawals.ts";
import type { EventOf } from "../../../src/events/catalogue.ts";
import { ACCOUNT, AT, linkClicked, position, stored } from "../../support/event-store/stored-events.ts";

const DAY = { from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z" };
const [ONE, TWO] = ["0195f3d2-7c1e-7a10-8b11-000000000001", "0195f3d2-7c1e-7a10-8b11-000000000002"];
const of = { host: "sho.rt", slug: "abc", accountId: ACCOUNT, at: AT };

function withdrawn(n: number, withdrawalId: string, selection: WithdrawnSelection = DAY, upTo = n - 1) {
  const data: EventOf<"ClicksWithdrawn">["data"] = {
    ...of,
    ...selection,
    withdrawalId,
    reason: "",
    upTo: position(upTo),
    clicks: { click: 1, preview: 0, qr_scan: 0 },
  };
  return stored(n, { type: "ClicksWithdrawn", data });
}

function restored(n: number, withdrawalId: string) {
  return stored(n, { type: "ClicksRestored", data: { ...of, withdrawalId } });
}

const inForce = (...events: ReturnType<typeof stored>[]) =>
  events.reduce<readonly Withdrawal[]>(withdrawalsAfter, []);
const click = (n: number, fields: Parameters<typeof linkClicked>[0] = {}) => ({
  ...linkClicked(fields).data,
  position: position(n),
});
const selects = (selection: Partial<WithdrawnSelection>, fields: Parameters<typeof linkClicked>[0]) =>
  isSelectedBy({ ...DAY, ...selection })(linkClicked(fields).data);

describe("a selection of clicks", () => {
  it("begins with its first instant and ends before its last", () => {
    expect(selects({}, { at: DAY.from })).toBe(true);
    expect(selects({}, { at: "2026-03-01T23:59:59.999Z" })).toBe(true);
    expect(selects({}, { at: "2026-02-28T23:59:59.999Z" })).toBe(false);
    expect(selects({}, { at: DAY.to })).toBe(false);
  });

  it("may name one visitor, and a part of the user agent in any case", () => {
    expect(selects({ visitor: "0123456789abcdef" }, {})).toBe(true);
    expect(selects({ visitor: "0123456789abcdee" }, {})).toBe(false);
    expect(selects({ userAgent: "MOZILLA" }, {})).toBe(true);
    expect(selects({ userAgent: "curl" }, {})).toBe(false);
  });

  it.each([
    ["192.0.2.0/24", "192.0.2.0", true],
    ["192.0.2.0/24", "192.0.3.0", false],
    ["192.0.0.0/16", "192.0.3.0", true],
    ["2001:db8::/32", "2001:db8:5::", true],
    ["2001:db8:5::/48", "2001:db8:6::", false],
    ["192.0.2.0/24", "2001:db8:5::", false],
    ["192.0.2.0/24", "", false],
  ])("by the network %s has the click from %s: %s", (ipPrefix, ip, isSelected) => {
    expect(selects({ ipPrefix }, { ip })).toBe(isSelected);
  });
});

describe("withdrawals", () => {
  it("cover the clicks up to the position that they name, and none that came later", () => {
    const isWithdrawn = isWithdrawnBy(inForce(withdrawn(5, ONE, DAY, 3)));
    expect([2, 3, 4, 6].map((n) => isWithdrawn(click(n)))).toEqual([true, true, false, false]);
  });

  it("cover nothing that came after them, whatever they say", () => {
    const isWithdrawn = isWithdrawnBy(inForce(withdrawn(5, ONE, DAY, 9)));
    expect([4, 6].map((n) => isWithdrawn(click(n)))).toEqual([true, false]);
  });

  it("cover a click as long as one of them is in force", () => {
    const both = [withdrawn(5, ONE), withdrawn(6, TWO, { ...DAY, userAgent: "mozilla" })];
    expect(isWithdrawnBy(inForce(...both))(click(1))).toBe(true);
    expect(isWithdrawnBy(inForce(...both, restored(7, ONE)))(click(1))).toBe(true);
    expect(isWithdrawnBy(inForce(...both, restored(7, ONE), restored(8, TWO)))(click(1))).toBe(false);
  });
});
