// The decider of an account's webhooks, as given-when-then (interface, parts 6 and 7).
import { describe, expect, it } from "vitest";
import { type AccountState, evolve, noAccount } from "../../../src/commands/account/account.ts";
import * as webhook from "../../../src/commands/webhooks/webhook.ts";
import type { AccountEvent } from "../../../src/events/catalogue.ts";
import type { Tier, WebhookPauser } from "../../../src/events/vocabulary.ts";
import { Refused } from "../../../src/runtime/refused.ts";
import { deciderOf } from "../../support/commands/given-when-then.ts";

const accountId = "11111111-1111-4111-8111-111111111111";
const at = "2026-01-01T00:00:00.000Z";
const account = deciderOf<AccountState, AccountEvent>(noAccount, evolve);
const id = (n: number) => `44444444-4444-4444-8444-44444444444${n}`;
const settings = { url: "https://hooks.example.com/", kinds: ["click" as const], label: "ci" };

const opened = (tier: Tier): AccountEvent => ({ type: "AccountOpened", data: { accountId, tier, at } });
const toFree: AccountEvent = { type: "TierChanged", data: { accountId, from: "developer", to: "free", at } };
const added = (n: number): AccountEvent => ({
  type: "WebhookAdded",
  data: { accountId, webhookId: id(n), ...settings, keyHint: "abcd", at },
});
const of = (n: number) => ({ accountId, webhookId: id(n), at });
const paused = (by: WebhookPauser): AccountEvent => ({ type: "WebhookPaused", data: { ...of(1), by } });
const resumed: AccountEvent = { type: "WebhookResumed", data: of(1) };
const removed: AccountEvent = { type: "WebhookRemoved", data: of(1) };

const add = (n: number) => (a: AccountState) =>
  webhook.add(a, { webhookId: id(n), ...settings, keyHint: "abcd", at });
const pause = (by: WebhookPauser) => (a: AccountState) => webhook.pause(a, { webhookId: id(1), by, at });
const resume = (by: WebhookPauser) => (a: AccountState) => webhook.resume(a, { webhookId: id(1), by, at });
const remove = (a: AccountState) => webhook.remove(a, { webhookId: id(1), at });
const rotate = (a: AccountState) =>
  webhook.rotateKey(a, { webhookId: id(1), keyHint: "wxyz", previousUntil: at, at });
const rename = (a: AccountState) => webhook.change(a, { webhookId: id(1), label: "new", at });

describe("adding a webhook", () => {
  it("needs the Developer tier", () => {
    account.given(opened("developer")).when(add(1)).thenEvents(added(1));
    account.given(opened("free")).when(add(1)).thenRefused("tier_required");
    account.given().when(add(1)).thenRefused("account_not_found");
  });

  it("is refused at the sixth, with the limit's message", () => {
    const five = [1, 2, 3, 4, 5].map(added);
    account
      .given(opened("developer"), ...five.slice(1))
      .when(add(1))
      .thenEvents(added(1));
    account
      .given(opened("developer"), ...five)
      .when(add(6))
      .thenRefused("webhook_limit_reached");
    expect(new Refused("webhook_limit_reached", `The webhook limit of ${5} is reached`).message).toBe(
      "The webhook limit of 5 is reached",
    );
  });

  it("counts paused webhooks and does not count removed ones", () => {
    const five = [1, 2, 3, 4, 5].map(added);
    account
      .given(opened("developer"), ...five, paused("user"))
      .when(add(6))
      .thenRefused("webhook_limit_reached");
    account
      .given(opened("developer"), ...five, removed)
      .when(add(6))
      .thenEvents(added(6));
  });

  it("keeps each kind once, in one order", () => {
    const twice = { ...settings, kinds: ["qr_scan", "click", "qr_scan"] as const };
    account
      .given(opened("developer"))
      .when((a) => webhook.add(a, { webhookId: id(1), ...twice, keyHint: "abcd", at }))
      .thenEvents({
        type: "WebhookAdded",
        data: { ...of(1), ...settings, kinds: ["click", "qr_scan"], keyHint: "abcd" },
      });
  });
});

describe("a webhook", () => {
  const one = [opened("developer"), added(1)];

  it("changes only what is given, and nothing when nothing differs", () => {
    account
      .given(...one)
      .when(rename)
      .thenEvents({ type: "WebhookChanged", data: { ...of(1), ...settings, label: "new" } });
    account
      .given(...one)
      .when((a) => webhook.change(a, { webhookId: id(1), ...settings, at }))
      .thenNothing();
    const moved: AccountEvent = {
      type: "WebhookChanged",
      data: { ...of(1), url: "https://other.example/", kinds: ["preview"], label: "ci" },
    };
    account
      .given(...one, moved)
      .when(rename)
      .thenEvents({ type: "WebhookChanged", data: { ...of(1), ...moved.data, label: "new" } });
  });

  it("is paused and resumed, each once", () => {
    account
      .given(...one)
      .when(pause("user"))
      .thenEvents(paused("user"));
    account
      .given(...one, paused("system"))
      .when(pause("user"))
      .thenNothing();
    account
      .given(...one, paused("system"))
      .when(resume("user"))
      .thenEvents(resumed);
    account
      .given(...one)
      .when(resume("user"))
      .thenNothing();
  });

  it("is resumed by the operator alone once the operator has paused it", () => {
    account
      .given(...one, paused("user"))
      .when(pause("operator"))
      .thenEvents(paused("operator"));
    account
      .given(...one, paused("operator"))
      .when(pause("operator"))
      .thenNothing();
    account
      .given(...one, paused("operator"))
      .when(pause("system"))
      .thenNothing();
    account
      .given(...one, paused("operator"))
      .when(resume("user"))
      .thenRefused("webhook_held");
    account
      .given(...one, paused("operator"))
      .when(resume("operator"))
      .thenEvents(resumed);
  });

  it("gets a new key on any tier", () => {
    const rotated: AccountEvent = {
      type: "WebhookKeyRotated",
      data: { ...of(1), keyHint: "wxyz", previousUntil: at },
    };
    account
      .given(...one)
      .when(rotate)
      .thenEvents(rotated);
    account
      .given(...one, toFree)
      .when(rotate)
      .thenEvents(rotated);
  });

  it("resumes with a new key when it was paused for want of one, unless the operator has paused it since", () => {
    const rotated: AccountEvent = {
      type: "WebhookKeyRotated",
      data: { ...of(1), keyHint: "wxyz", previousUntil: at },
    };
    const why = { by: "system", reason: "its key is missing", cause: "key_missing" } as const;
    const keyless: AccountEvent = { type: "WebhookPaused", data: { ...of(1), ...why } };
    account
      .given(...one)
      .when((a) => webhook.pause(a, { webhookId: id(1), ...why, at }))
      .thenEvents(keyless);
    account
      .given(...one, keyless)
      .when(rotate)
      .thenEvents(rotated, resumed);
    account
      .given(...one, paused("system"))
      .when(rotate)
      .thenEvents(rotated);
    account
      .given(...one, keyless, paused("operator"))
      .when(rotate)
      .thenEvents(rotated);
  });

  it("can be paused and removed after a downgrade, but neither changed nor resumed", () => {
    const downgraded = account.given(...one, toFree);
    downgraded.when(pause("user")).thenEvents(paused("user"));
    downgraded.when(remove).thenEvents(removed);
    downgraded.when(rename).thenRefused("tier_required");
    account
      .given(...one, paused("user"), toFree)
      .when(resume("user"))
      .thenRefused("tier_required");
  });

  it("is removed for good, and a repeated removal changes nothing", () => {
    account
      .given(...one)
      .when(remove)
      .thenEvents(removed);
    account
      .given(...one, removed)
      .when(remove)
      .thenNothing();
  });

  it.each([
    ["changed", rename],
    ["paused", pause("user")],
    ["resumed", resume("user")],
    ["given a new key", rotate],
  ])("that was removed, or never was, can't be %s", (_, command) => {
    account
      .given(...one, removed)
      .when(command)
      .thenRefused("webhook_not_found");
    account.given(opened("developer")).when(command).thenRefused("webhook_not_found");
  });

  it("that never was can't be removed", () => {
    account.given(opened("developer")).when(remove).thenRefused("webhook_not_found");
  });
});
