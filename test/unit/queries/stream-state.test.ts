// The state of a stream as of any of its revisions, and the difference between two of them.
import { beforeEach, describe, expect, it } from "vitest";
import type { LinkledgerEvent } from "../../../src/events/catalogue.ts";
import { changesBetween, streamState } from "../../../src/queries/audit/stream-state.ts";
import {
  ACCOUNT,
  AT,
  DOMAIN,
  KEY,
  linkClicked,
  linkCreated,
} from "../../support/event-store/stored-events.ts";
import { append, type Stores, storesOfTest } from "../../support/runtime/stores.ts";

const LINK = "link-sho.rt/abc";
const ofLink = { host: "sho.rt", slug: "abc", accountId: ACCOUNT, at: AT };
const webhookId = "22222222-2222-4333-8444-555555555555";

describe("the state of a stream", () => {
  let stores: Stores;
  beforeEach(async () => {
    stores = await storesOfTest();
  });
  const happen = (stream: string, ...events: LinkledgerEvent[]) => append(stores.eventStore, stream, events);

  it("is that of a link as of each revision, with what changed since the one before", async () => {
    const retargeted = { from: "https://example.com/", to: "https://example.com/new" };
    await happen(
      LINK,
      linkCreated({ slug: "abc", longUrl: "https://example.com/" }),
      { type: "LinkRetargeted", data: { ...ofLink, ...retargeted } },
      { type: "LinkDisabled", data: ofLink },
    );
    const last = await streamState(stores, LINK);
    expect(last).toMatchObject({ revision: 2, against: 1, last_revision: 2, has_state: true });
    expect(last.changes).toEqual([
      { path: "disabled", before: false, after: true },
      { path: "status", before: "live", after: "disabled" },
      { path: "changes", before: 1, after: 2 },
    ]);
    const whole = await streamState(stores, LINK, { revision: 2, against: 0 });
    expect(whole.changes).toContainEqual({
      ...{ path: "longUrl", before: "https://example.com/", after: "https://example.com/new" },
    });
    const first = await streamState(stores, LINK, { revision: 0 });
    expect(first).toMatchObject({ against: -1, before: null, state: { status: "live" } });
    const backwards = await streamState(stores, LINK, { revision: 0, against: 2 });
    expect(backwards.changes).toContainEqual({ path: "status", before: "disabled", after: "live" });
    await expect(streamState(stores, LINK, { revision: 3 })).rejects.toMatchObject({ code: "not_found" });
  });

  it("is that of an account with its keys, domains and webhooks, and holds nothing internal", async () => {
    const ofAccount = { accountId: ACCOUNT, at: AT };
    const url = "https://hooks.example/secret-path";
    await happen(
      "account-a",
      { type: "AccountOpened", data: { ...ofAccount, tier: "developer" } },
      {
        type: "KeyIssued",
        data: { ...ofAccount, keyId: KEY, keyHash: "ab".repeat(32), hint: "x7Qa", label: "" },
      },
      { type: "DomainAdded", data: { ...ofAccount, hostname: "my.example", token: "proof-token" } },
      {
        type: "DomainVerified",
        data: { ...ofAccount, hostname: "my.example", domainId: DOMAIN, how: "dns" },
      },
      {
        type: "WebhookAdded",
        data: { ...ofAccount, webhookId, url, kinds: ["click"], label: "", keyHint: "abcd" },
      },
    );
    const found = await streamState(stores, "account-a", { revision: 4, against: 1 });
    expect(found.state).toMatchObject({
      ...{ tier: "developer", keys: { [KEY]: { status: "active", keyHash: "(withheld)" } } },
      domains: { "my.example": { state: "inactive", token: "(withheld)" } },
      webhooks: { [webhookId]: { status: "active", url: "(withheld)" } },
    });
    expect(found.before).toMatchObject({ keys: { [KEY]: { status: "active" } }, domains: {} });
    expect(JSON.stringify(found)).not.toMatch(/secret-path|proof-token|abab/);
  });

  it("is that of a hostname's claim, and clicks have none", async () => {
    const claim = { hostname: "my.example", accountId: ACCOUNT, domainId: DOMAIN, at: AT };
    await happen("domain-my.example", { type: "DomainClaimed", data: claim });
    expect((await streamState(stores, "domain-my.example")).state).toEqual({
      ...{ status: "claimed", accountId: ACCOUNT, domainId: DOMAIN },
    });
    await happen("clicks-w-20260301", linkClicked());
    expect(await streamState(stores, "clicks-w-20260301")).toMatchObject({ has_state: false, state: null });
    await expect(streamState(stores, "link-sho.rt/none")).rejects.toMatchObject({ code: "not_found" });
  });

  it("is that of a link's withdrawals: those in force", async () => {
    const withdrawalId = "33333333-2222-4333-8444-555555555555";
    const day = { from: "2026-02-28T00:00:00.000Z", to: "2026-03-01T00:00:00.000Z" };
    const clicks = { click: 3, preview: 0, qr_scan: 0 };
    const withdrawn = { ...ofLink, ...day, withdrawalId, reason: "Load test", upTo: "", clicks };
    const stream = "withdrawals-sho.rt/abc";
    await happen(stream, { type: "ClicksWithdrawn", data: withdrawn });
    await happen(stream, { type: "ClicksRestored", data: { ...ofLink, withdrawalId } });
    const first = await streamState(stores, stream, { revision: 0 });
    expect(first.state).toMatchObject({ [withdrawalId]: day });
    const second = await streamState(stores, stream);
    expect(second.state).toEqual({});
    expect(second.changes).toContainEqual({ path: `${withdrawalId}.from`, before: day.from, after: null });
  });

  it("differs by paths: what is new, gone or another", () => {
    const before = { a: 1, b: { c: [1], d: "same" }, gone: null };
    const after = { a: 2, b: { c: [1, 2], d: "same", e: true } };
    expect(changesBetween(before, after)).toEqual([
      { path: "a", before: 1, after: 2 },
      { path: "b.c", before: [1], after: [1, 2] },
      { path: "b.e", before: null, after: true },
    ]);
    expect(changesBetween(null, null)).toEqual([]);
  });
});
