// The limits on a stream's length.
import { describe, expect, it } from "vitest";
import * as accounts from "../../../src/commands/account/account.ts";
import * as keys from "../../../src/commands/account/decide-key.ts";
import * as domains from "../../../src/commands/domains/decide-domain.ts";
import * as links from "../../../src/commands/links/link.ts";
import * as webhooks from "../../../src/commands/webhooks/decide-webhook.ts";
import type { AccountEvent, LinkEvent } from "../../../src/events/catalogue.ts";
import { STREAM_LIMITS } from "../../../src/events/vocabulary.ts";
import { deciderOf } from "../../support/commands/given-when-then.ts";

const { evolve, noAccount } = accounts;
const { evolve: evolveLink, freeLink } = links;
const account = deciderOf<accounts.AccountState, AccountEvent>(noAccount, evolve);
const link = deciderOf<links.LinkState, LinkEvent>(freeLink, evolveLink);

const operator = { type: "operator" } as const;
const accountId = "11111111-1111-4111-8111-111111111111";
const at = "2026-01-01T00:00:00.000Z";
const uuid = (n: number) => `22222222-2222-4222-8222-${String(n).padStart(12, "0")}`;

const opened: AccountEvent = { type: "AccountOpened", data: { accountId, tier: "developer", at } };

/** What a scripted form can repeat: the n-th key is issued, then deactivated. */
const keyLoop = (n: number): AccountEvent[] => [
  {
    type: "KeyIssued",
    data: { accountId, keyId: uuid(n), keyHash: "0".repeat(64), hint: "abcd", label: "", at },
  },
  { type: "KeyDeactivated", data: { accountId, keyId: uuid(n), at } },
];

const webhookSettings = { url: "https://a.example/", kinds: ["click" as const], label: "", keyHint: "" };
const webhookLoop = (n: number): AccountEvent[] => [
  { type: "WebhookAdded", data: { accountId, webhookId: uuid(n), ...webhookSettings, at } },
  { type: "WebhookRemoved", data: { accountId, webhookId: uuid(n), at } },
];

const domainLoop = (n: number): AccountEvent[] => [
  { type: "DomainAdded", data: { accountId, hostname: `d${n}.example.com`, token: "t", at } },
];

function historyOf(loop: (n: number) => AccountEvent[], length: number): AccountEvent[] {
  const events = [opened];
  for (let n = 0; events.length < length; n++) events.push(...loop(n));
  return events;
}

describe("an account's stream takes in", () => {
  const full = historyOf(keyLoop, STREAM_LIMITS.accountEvents);
  const ofAccount = { accountId, at };
  const webhookId = uuid(0);
  const domainId = uuid(1);
  const hostname = "go.example.com";
  const newKey = { keyId: uuid(9_999), keyHash: "0".repeat(64), hint: "abcd", label: "", at };
  const settings = { url: "https://a.example/", kinds: ["click" as const], label: "" };
  const owned: AccountEvent[] = [
    opened,
    { type: "KeyIssued", data: { ...ofAccount, ...newKey, keyId: uuid(1) } },
    { type: "DomainAdded", data: { ...ofAccount, hostname, token: "t" } },
    { type: "DomainVerified", data: { ...ofAccount, hostname, domainId, how: "dns" } },
    { type: "DomainActivated", data: { ...ofAccount, hostname, domainId } },
    { type: "WebhookAdded", data: { ...ofAccount, webhookId, ...settings, keyHint: "abcd" } },
  ];
  /** Longer than the limit, like a stream from before the limit existed. */
  const overfull = [...owned, ...full.slice(1)];

  it("1,000 issued keys, and no more when all are deactivated", () => {
    const { keysIssued } = STREAM_LIMITS;
    const history = historyOf(keyLoop, 1 + 2 * keysIssued);
    const issue = (a: accounts.AccountState) => keys.issue(a, newKey, operator);
    expect(() => account(history, issue, [])).toThrow(
      "This account has been issued 1000 API keys, as many as one account can be: go on with the keys it has, or open another account",
    );
    account(history.slice(0, -2), issue, [{ type: "KeyIssued", data: { accountId, ...newKey } }]);
  });

  it("1,000 added webhooks and 1,000 added domains, removed ones counted", () => {
    const add = (a: accounts.AccountState) =>
      webhooks.add(a, { webhookId: uuid(9_999), ...settings, keyHint: "", at });
    const { webhooksAdded, domainsAdded } = STREAM_LIMITS;
    const withWebhooks = historyOf(webhookLoop, 1 + 2 * webhooksAdded);
    account(withWebhooks, add, "history_full");
    const removed = { type: "DomainRemoved", data: { ...ofAccount, hostname: "d0.example.com" } } as const;
    account(
      [...historyOf(domainLoop, 1 + domainsAdded), removed],
      (a) => domains.add(a, { hostname, token: "t", at }),
      "history_full",
    );
  });

  it("5,000 events of whatever kind: then nothing is issued, added, changed, resumed or activated", () => {
    const addDomain = (a: accounts.AccountState) => domains.add(a, { hostname, token: "t", at });
    account(full.slice(0, STREAM_LIMITS.accountEvents), addDomain, "history_full");
    account(full.slice(0, STREAM_LIMITS.accountEvents - 1), addDomain, [
      { type: "DomainAdded", data: { ...ofAccount, hostname, token: "t" } },
    ]);
    const by = "user" as const;
    const off: AccountEvent = { type: "DomainDeactivated", data: { ...ofAccount, hostname, domainId } };
    const paused: AccountEvent = { type: "WebhookPaused", data: { ...ofAccount, webhookId, by } };
    const stopped = [...owned, ...full.slice(1), off, paused];
    for (const grow of [
      (a) => keys.issue(a, newKey, operator),
      (a) => webhooks.add(a, { webhookId: uuid(9_999), ...settings, keyHint: "", at }),
      (a) => webhooks.change(a, { webhookId, label: "other", at }),
      (a) => webhooks.resume(a, { webhookId, by, at }),
      (a) => webhooks.rotateKey(a, { webhookId, keyHint: "", previousUntil: at, at }),
      (a) => domains.add(a, { hostname: "new.example.com", token: "t", at }),
      (a) => domains.activate(a, { domainId, at }),
      (a) => domains.setHome(a, { domainId, homeUrl: null, at }),
    ] satisfies ((a: accounts.AccountState) => readonly AccountEvent[])[])
      account(stopped, grow, "history_full");
  });

  it("what deactivates, pauses, removes or closes, however long it is", () => {
    for (const [stop, type] of [
      [(a) => keys.deactivate(a, { keyId: newKey.keyId, at }, operator), "KeyDeactivated"],
      [(a) => accounts.changeTierTo(a, { tier: "free", at }), "TierChanged"],
      [(a) => accounts.close(a, { at }), "AccountClosed"],
      [(a) => webhooks.pause(a, { webhookId, by: "user", at }), "WebhookPaused"],
      [(a) => webhooks.remove(a, { webhookId, at }), "WebhookRemoved"],
      [(a) => domains.deactivate(a, { domainId, at }), "DomainDeactivated"],
      [(a) => domains.noteRecord(a, { domainId, isThere: false, at }), "DomainRecordLost"],
      [(a) => domains.remove(a, { hostname, at }), "DomainRemoved"],
    ] satisfies [(a: accounts.AccountState) => readonly AccountEvent[], string][]) {
      const live: AccountEvent = { type: "KeyIssued", data: { ...ofAccount, ...newKey } };
      const state = [...owned, ...full.slice(1), live].reduce(evolve, noAccount);
      expect(stop(state)).toMatchObject([{ type }]);
    }
    account(overfull, (a) => domains.add(a, { hostname, token: "other", at }), []);
  });
});

describe("a link's stream takes in", () => {
  it("1,000 changes: then it can be disabled and deleted, and nothing else", () => {
    const { linkChanges } = STREAM_LIMITS;
    const to = (change: links.LinkChange) => (link: links.LinkState) =>
      links.change(link, { by: accountId, at, change });
    const retarget = to({ type: "retarget", to: "https://b.example/" });
    const live = linkHistory(1 + linkChanges);
    link(live.slice(0, -2), retarget, [expect.objectContaining({ type: "LinkRetargeted" })]);
    expect(() => link(live, retarget, [])).toThrow(
      "This link has been changed 1000 times, as often as one link can be: it can still be disabled or deleted",
    );
    for (const type of ["disable", "delete"] as const) {
      const events = to({ type })(live.reduce(evolveLink, freeLink));
      expect(events).toHaveLength(1);
      const back = type === "disable" ? "enable" : "restore";
      link([...live, ...events], to({ type: back }), "history_full");
    }
  });
});

/** Alternately disabled and enabled. */
function linkHistory(length: number): LinkEvent[] {
  const of = { host: "localhost", slug: "abc", accountId, at };
  const [longUrl, shortUrl] = ["https://a.example/", "http://localhost/abc"];
  const toggled = (n: number): LinkEvent => ({ type: n % 2 ? "LinkEnabled" : "LinkDisabled", data: of });
  return [
    { type: "LinkCreated", data: { ...of, longUrl, shortUrl, via: "api", custom: false } },
    ...Array.from({ length: length - 1 }, (_, n) => toggled(n)),
  ];
}
