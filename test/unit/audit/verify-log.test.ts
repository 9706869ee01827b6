// `audit verify`: accepts the service's own log, and reports each kind of violation with its place.

import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LinkledgerEvent } from "../../../src/events/catalogue.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { withdrawalStream } from "../../../src/events/streams.ts";
import type { Actor, StoredText } from "../../../src/stores/event-store/port.ts";
import { verified } from "../../support/audit/verified.ts";
import { appendNext } from "../../support/event-store/append-next.ts";
import { sampleEvent } from "../../support/event-store/sample-events.ts";
import {
  ACCOUNT,
  AT,
  DOMAIN,
  KEY,
  linkClicked,
  linkCreated,
  OTHER_ACCOUNT,
} from "../../support/event-store/stored-events.ts";
import { clicksRestored, clicksWithdrawn } from "../../support/projections/withdrawal-events.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";

const CLICKS = "clicks-a-20260301";
const account = { accountId: ACCOUNT, at: AT };
const opened = (tier: "free" | "developer" = "developer") =>
  ({ type: "AccountOpened", data: { ...account, tier } }) as const;
const keyIssued = (keyId = randomUUID()) =>
  ({
    type: "KeyIssued",
    data: { ...account, keyId, keyHash: "ab".repeat(32), hint: "abcd", label: "" },
  }) as const;

describe("verifying the log", () => {
  let stores: Stores;
  beforeEach(async () => {
    stores = await openStores();
  });
  afterEach(() => stores.close());

  const verify = (eventStore = stores.eventStore) => verified(eventStore);
  const problems = async (...given: Parameters<typeof verify>) =>
    (await verify(...given)).problems.map(({ check, message }) => `${check}: ${message}`);
  const ordinaryLog = async () => {
    await append(stores.eventStore, `account-${ACCOUNT}`, [opened(), keyIssued(KEY)]);
    const claim = { hostname: "go.example.com", accountId: ACCOUNT, domainId: DOMAIN, at: AT };
    await append(stores.eventStore, "domain-go.example.com", [{ type: "DomainClaimed", data: claim }]);
    await append(stores.eventStore, "link-sho.rt/abc", [linkCreated()]);
    await append(stores.eventStore, CLICKS, [linkClicked(), linkClicked({ ip: "2001:db8:1::" })]);
  };
  /** The event store with changed or removed events. */
  const tampered = (change: (event: StoredText, n: number) => StoredText | undefined) =>
    storeWith(stores.eventStore, {
      async readStored(options) {
        const { events, next } = await stores.eventStore.readStored(options);
        return { events: events.flatMap((event, n) => change(event, n) ?? []), next };
      },
    });

  it("finds nothing in a log as the service writes it, and counts what is there", async () => {
    await ordinaryLog();
    expect(await verify()).toMatchObject({
      verdict: "unsealed",
      events: 6,
      streams: { account: 1, domain: 1, link: 1, clicks: 1, withdrawals: 0 },
      types: { AccountOpened: 1, KeyIssued: 1, DomainClaimed: 1, LinkCreated: 1, LinkClicked: 2 },
      problemCount: 0,
      problems: [],
    });
  });

  it("says so of an empty log too", async () => {
    expect(await verify()).toMatchObject({ verdict: "unsealed", events: 0, anchor: null, problems: [] });
  });

  it("names events that can't be read, and goes on with the rest, which breaks no rule without them", async () => {
    await ordinaryLog();
    await stores.eventStore.append("domain-other.example", "none", [sampleEvent({}, "LinkTeleported")]);
    const spoilt = tampered((event) =>
      event.type === "LinkCreated" ? { ...event, data: "", unreadable: "not JSON" } : event,
    );
    const found = await verify(spoilt);
    expect(found).toMatchObject({ ok: false, events: 7, types: { LinkTeleported: 1, LinkClicked: 2 } });
    expect(found.problems.map(({ check, message }) => [check, message])).toEqual([
      ["schema", expect.stringContaining("not JSON")],
      ["schema", expect.stringContaining("there is no such type")],
    ]);
  });

  it("reports an event that is missing, duplicated or out of order", async () => {
    await ordinaryLog();
    // Removing the last event of a stream leaves no gap, so only a seal reveals it.
    expect(await problems(tampered((event, n) => (n === 1 ? undefined : event)))).toEqual([]);
    const gap = await verify(tampered((event, n) => (n === 4 ? undefined : event)));
    expect(gap.problems).toEqual([
      expect.objectContaining({
        check: "order",
        stream: CLICKS,
        revision: 1,
        message: "revision 0 was expected",
      }),
    ]);
    const twice = tampered((event, n) =>
      n === 5 ? { ...event, id: "same" } : n === 4 ? { ...event, id: "same" } : event,
    );
    expect(await problems(twice)).toEqual(["duplicate: event same is there twice"]);
    const shuffled = tampered((event, n) => (n === 5 ? { ...event, position: "0" } : event));
    expect(await problems(shuffled)).toEqual(["order: its position is not behind the one before"]);
  });

  it("reports each event that the store could not read, and judges nothing by what it can't know then", async () => {
    await ordinaryLog();
    await append(stores.eventStore, "link-sho.rt/other", [linkCreated({ slug: "other" })]);
    await append(stores.eventStore, CLICKS, [linkClicked({ link: "sho.rt/gone" })]);
    const spoilt = (event: StoredText) => {
      return { ...event, id: "", type: "", data: "", metadata: "", unreadable: 'it says "link" twice' };
    };
    // The account's first event, the link's, and a click.
    const found = await verify(tampered((event, n) => ([0, 3, 5].includes(n) ? spoilt(event) : event)));
    expect(found).toMatchObject({ ok: false, events: 8, types: { unreadable: 3, LinkClicked: 2 } });
    const message = expect.stringMatching(/^Event at revision \d of \S+: it says "link" twice$/);
    expect(found.problems).toEqual([
      expect.objectContaining({ check: "schema", stream: `account-${ACCOUNT}`, revision: 0, message }),
      expect.objectContaining({ check: "schema", stream: "link-sho.rt/abc", revision: 0, message }),
      expect.objectContaining({ check: "schema", stream: CLICKS, revision: 1, message }),
      expect.objectContaining({ check: "rule", stream: CLICKS, revision: 2 }),
    ]);
  });

  it("reports data that violates its schema", async () => {
    await stores.eventStore.append("link-sho.rt/abc", "none", [sampleEvent({ host: 7 }, "LinkCreated")]);
    const [problem] = await problems();
    expect(problem).toMatch(/^schema: LinkCreated at revision 0 of link-sho\.rt\/abc: /);
  });

  it("reports impossible times", async () => {
    await append(stores.eventStore, "link-sho.rt/abc", [linkCreated({ at: "2999-01-01T00:00:00.000Z" })]);
    expect(await problems()).toEqual(["time: happened at 2999-01-01T00:00:00.000Z, after it was recorded"]);
  });

  it("takes a clock that was set back for no tampering", async () => {
    const now = Date.now();
    const times = [now, now - 3_600_000].map((time) => new Date(time).toISOString());
    await append(stores.eventStore, `account-${ACCOUNT}`, [opened()]);
    await append(stores.eventStore, "link-sho.rt/abc", [linkCreated({ at: times[0] as string })]);
    const setBack = tampered((event, n) => ({ ...event, recordedAt: times[n] as string }));
    expect(await problems(setBack)).toEqual([]);
  });

  it.each([
    ["account", `account-${ACCOUNT}`, [keyIssued()], "KeyIssued: comes before AccountOpened"],
    ["account", `account-${ACCOUNT}`, [opened(), opened()], "AccountOpened: opens the account again"],
    ["account", `account-${OTHER_ACCOUNT}`, [opened()], "AccountOpened: belongs to another stream"],
    [
      "account",
      `account-${ACCOUNT}`,
      [opened("free"), { type: "DomainAdded", data: { ...account, hostname: "a.example", token: "t" } }],
      "DomainAdded: DomainAdded on the free tier",
    ],
    [
      "account",
      `account-${ACCOUNT}`,
      [opened(), { type: "AccountClosed", data: account }, keyIssued()],
      "KeyIssued: comes after AccountClosed",
    ],
    [
      "domain",
      "domain-a.example",
      [ACCOUNT, OTHER_ACCOUNT].map((accountId) => ({
        type: "DomainClaimed",
        data: { hostname: "a.example", accountId, domainId: DOMAIN, at: AT },
      })),
      `DomainClaimed: claimed while it belongs to account ${ACCOUNT}`,
    ],
    ["link", "link-sho.rt/xyz", [linkCreated()], "LinkCreated: belongs to another stream"],
    ["link", "link-sho.rt/abc", [linkCreated(), linkCreated()], "LinkCreated: the slug was taken"],
    [
      "link",
      "link-sho.rt/abc",
      [{ type: "LinkDeleted", data: { host: "sho.rt", slug: "abc", ...account } }],
      "LinkDeleted: comes before LinkCreated",
    ],
    [
      "link",
      "link-sho.rt/abc",
      [
        linkCreated(),
        { type: "LinkDisabled", data: { host: "sho.rt", slug: "abc", accountId: OTHER_ACCOUNT, at: AT } },
      ],
      `LinkDisabled: changed by account ${OTHER_ACCOUNT}, which does not own it`,
    ],
    ["clicks", CLICKS, [linkClicked()], "LinkClicked: click of sho.rt/abc, which was never created"],
  ] as const)("reports what is wrong in a stream of %s: %s", async (_, stream, events, message) => {
    await append(stores.eventStore, stream, events as never);
    expect(await problems()).toEqual([`rule: ${message}`]);
  });

  it("reports a click with a full address, or for another account", async () => {
    await ordinaryLog();
    await append(stores.eventStore, CLICKS, [
      linkClicked({ ip: "192.0.2.17" }),
      linkClicked({ accountId: OTHER_ACCOUNT }),
    ]);
    expect(await problems()).toEqual([
      "rule: LinkClicked: its address is not anonymised",
      `rule: LinkClicked: click for account ${OTHER_ACCOUNT}, which does not own sho.rt/abc`,
    ]);
  });

  it("reports a link that its owner changed while it was blocked, or was blocked by somebody else", async () => {
    await ordinaryLog();
    const of = { host: "sho.rt", slug: "abc", accountId: ACCOUNT, at: AT };
    const by = (actor: Actor, ...events: LinkledgerEvent[]) => {
      const origin = { correlationId: "test", causationId: "test", actor };
      const stamped = events.map((event) => newEvent(event, randomUUID(), origin));
      return appendNext(stores.eventStore, "link-sho.rt/abc", stamped);
    };
    const owner = { type: "person", id: ACCOUNT } as const;
    const blocked = { type: "LinkBlocked", data: { ...of, reason: "Phishing" } } as const;
    await by({ type: "operator" }, blocked);
    await by(owner, { type: "LinkDisabled", data: of }, { type: "LinkDeleted", data: of });
    await by({ type: "operator" }, { ...blocked, data: { ...blocked.data, reason: "Spam" } });
    // What the service notes of the end of a link, whatever has become of that.
    await by({ type: "system", id: "link-ends" }, { type: "LinkReopened", data: { ...of, expiresAt: AT } });
    expect(await problems()).toEqual([]);
    await by(owner, { type: "LinkRestored", data: of }, { type: "LinkUnblocked", data: of });
    expect(await problems()).toEqual([
      "rule: LinkRestored: changed while it was blocked",
      "rule: LinkUnblocked: was not done by the operator",
    ]);
  });

  it("reports withdrawals of clicks that are made twice, ended without a beginning, of clicks to come, or of another link or owner", async () => {
    await ordinaryLog();
    const of = { link: "sho.rt/abc" };
    const withdrawn = (...[of, n]: Parameters<typeof clicksWithdrawn>) =>
      clicksWithdrawn(of, n, { upTo: "" });
    await append(stores.eventStore, withdrawalStream(of.link), [
      ...[withdrawn(of, 1), clicksRestored(of, 1), withdrawn(of, 2), withdrawn(of, 2)],
      ...[clicksRestored(of, 3), withdrawn({ link: "sho.rt/other" }, 4)],
      withdrawn({ ...of, accountId: OTHER_ACCOUNT }, 5),
    ]);
    await append(stores.eventStore, withdrawalStream(of.link), [clicksWithdrawn(of, 7)]);
    await append(stores.eventStore, withdrawalStream("sho.rt/none"), [withdrawn({ link: "sho.rt/none" }, 6)]);
    expect(await problems()).toEqual([
      "rule: ClicksWithdrawn: withdraws the same clicks twice",
      "rule: ClicksRestored: restores clicks that are not withdrawn",
      "rule: ClicksWithdrawn: belongs to another stream",
      `rule: ClicksWithdrawn: names account ${OTHER_ACCOUNT}, which does not own sho.rt/abc`,
      "rule: ClicksWithdrawn: withdraws clicks that come after it",
      "rule: ClicksWithdrawn: withdraws clicks of sho.rt/none, which was never created",
    ]);
  });

  it("counts all problems and lists the first hundred", async () => {
    await append(
      stores.eventStore,
      CLICKS,
      Array.from({ length: 150 }, () => linkClicked()),
    );
    const { problemCount, problems: listed } = await verify();
    expect([problemCount, listed.length]).toEqual([150, 100]);
  });
});
