// The decider of an account's webhooks, as given-when-then (interface, parts 6 and 7).
import { describe, it } from "vitest";
import { type AccountState, evolve, noAccount } from "../../../src/commands/account/account.ts";
import * as webhook from "../../../src/commands/webhooks/decide-webhook.ts";
import type { AccountEvent } from "../../../src/events/catalogue.ts";
import type { Tier, WebhookPauser } from "../../../src/events/vocabulary.ts";
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
    account([opened("developer")], add(1), [added(1)]);
    account([opened("free")], add(1), "tier_required");
    account([], add(1), "account_not_found");
  });

  it("is refused at the sixth; paused ones count, removed ones don't", () => {
    const five = [1, 2, 3, 4, 5].map(added);
    account([opened("developer"), ...five.slice(1)], add(1), [added(1)]);
    account([opened("developer"), ...five], add(6), "webhook_limit_reached");
    account([opened("developer"), ...five, paused("user")], add(6), "webhook_limit_reached");
    account([opened("developer"), ...five, removed], add(6), [added(6)]);
  });
});

describe("a webhook", () => {
  const one = [opened("developer"), added(1)];

  it("changes only what is given, and nothing when nothing differs", () => {
    account(one, rename, [{ type: "WebhookChanged", data: { ...of(1), ...settings, label: "new" } }]);
    account(one, (a) => webhook.change(a, { webhookId: id(1), ...settings, at }), []);
    const moved: AccountEvent = {
      type: "WebhookChanged",
      data: { ...of(1), url: "https://other.example/", kinds: ["preview"], label: "ci" },
    };
    account([...one, moved], rename, [
      { type: "WebhookChanged", data: { ...of(1), ...moved.data, label: "new" } },
    ]);
  });

  it("is paused and resumed, each once", () => {
    account(one, pause("user"), [paused("user")]);
    account([...one, paused("system")], pause("user"), []);
    account([...one, paused("system")], resume("user"), [resumed]);
    account(one, resume("user"), []);
  });

  it("is resumed by the operator alone once the operator has paused it", () => {
    account([...one, paused("user")], pause("operator"), [paused("operator")]);
    account([...one, paused("operator")], pause("operator"), []);
    account([...one, paused("operator")], pause("system"), []);
    account([...one, paused("operator")], resume("user"), "webhook_held");
    account([...one, paused("operator")], resume("operator"), [resumed]);
  });

  const rotated: AccountEvent = {
    type: "WebhookKeyRotated",
    data: { ...of(1), keyHint: "wxyz", previousUntil: at },
  };

  it("gets a new key on any tier", () => {
    account(one, rotate, [rotated]);
    account([...one, toFree], rotate, [rotated]);
  });

  it("resumes with a new key when it was paused for want of one, unless the operator has paused it since", () => {
    const why = { by: "system", reason: "its key is missing", cause: "key_missing" } as const;
    const keyless: AccountEvent = { type: "WebhookPaused", data: { ...of(1), ...why } };
    account(one, (a) => webhook.pause(a, { webhookId: id(1), ...why, at }), [keyless]);
    account([...one, keyless], rotate, [rotated, resumed]);
    account([...one, paused("system")], rotate, [rotated]);
    account([...one, keyless, paused("operator")], rotate, [rotated]);
  });

  it("can be paused and removed after a downgrade, but neither changed nor resumed", () => {
    const downgraded = [...one, toFree];
    account(downgraded, pause("user"), [paused("user")]);
    account(downgraded, remove, [removed]);
    account(downgraded, rename, "tier_required");
    account([...one, paused("user"), toFree], resume("user"), "tier_required");
  });

  it("is removed for good, and a repeated removal changes nothing", () => {
    account(one, remove, [removed]);
    account([...one, removed], remove, []);
    account([opened("developer")], remove, "webhook_not_found");
  });

  it.each([
    ["changed", rename],
    ["paused", pause("user")],
    ["resumed", resume("user")],
    ["given a new key", rotate],
  ])("that was removed, or never was, can't be %s", (_, command) => {
    account([...one, removed], command, "webhook_not_found");
    account([opened("developer")], command, "webhook_not_found");
  });
});
