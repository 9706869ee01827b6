// The router's fold of accounts and webhooks into the subscribers of a click (interface, part 6).
import { describe, expect, it } from "vitest";
import type { EventOf, EventType, LinkledgerEvent } from "../../../src/events/catalogue.ts";
import { foldSubscribers, noSubscribers, subscribersOf } from "../../../src/webhooks/routing/subscribers.ts";
import { ACCOUNT, AT, linkClicked, OTHER_ACCOUNT, stored } from "../../support/event-store/stored-events.ts";

const HOOK = "aaaaaaaa-0000-4000-8000-000000000001";
const SECOND_HOOK = "aaaaaaaa-0000-4000-8000-000000000002";
const of = { accountId: ACCOUNT, at: AT };
const opened = (tier: "free" | "developer" = "developer"): EventOf<"AccountOpened"> => ({
  type: "AccountOpened",
  data: { ...of, tier },
});
const added = (
  webhookId = HOOK,
  more: Partial<EventOf<"WebhookAdded">["data"]> = {},
): EventOf<"WebhookAdded"> => ({
  type: "WebhookAdded",
  data: {
    ...{ ...of, webhookId, url: "https://hooks.example/", label: "", keyHint: "abcd" },
    ...{ kinds: ["click", "qr_scan"], ...more },
  },
});
const tier = (from: "free" | "developer", to: "free" | "developer"): EventOf<"TierChanged"> => ({
  type: "TierChanged",
  data: { ...of, from, to },
});
const toHook = <T extends EventType>(type: T, more: object = {}) =>
  ({ type, data: { ...of, webhookId: HOOK, ...more } }) as unknown as EventOf<T>;
const paused = toHook("WebhookPaused", { by: "user" });

function given(...events: LinkledgerEvent[]) {
  const subscribers = noSubscribers();
  const removed = events.map((event, n) => foldSubscribers(subscribers, stored(n, event)));
  const clicked = (fields: Parameters<typeof linkClicked>[0] = {}) =>
    subscribersOf(subscribers, stored(99, linkClicked(fields))).map(({ webhookId }) => webhookId);
  return { subscribers, clicked, removed: removed.flat() };
}

describe("the subscribers of a click", () => {
  it("are the active webhooks of its account", () => {
    const { clicked } = given(opened(), added(), added(SECOND_HOOK));
    expect(clicked()).toEqual([HOOK, SECOND_HOOK]);
    expect(clicked({ accountId: OTHER_ACCOUNT })).toEqual([]);
  });

  it("are those that select its kind", () => {
    const { clicked } = given(opened(), added(), added(SECOND_HOOK, { kinds: ["preview"] }));
    expect(clicked({ kind: "qr_scan" })).toEqual([HOOK]);
    expect(clicked({ kind: "preview" })).toEqual([SECOND_HOOK]);
    const changed = toHook("WebhookChanged", {
      url: "https://hooks.example/",
      kinds: ["preview"],
      label: "",
    });
    expect(given(opened(), added(), changed).clicked({ kind: "click" })).toEqual([]);
  });

  it("are another receiver with another URL, which has not failed yet", () => {
    const at = "2026-03-02T00:00:00.000Z";
    const moved = toHook("WebhookChanged", { url: "https://new.example/", kinds: ["click"], label: "", at });
    const named = toHook("WebhookChanged", {
      url: "https://hooks.example/",
      kinds: ["click"],
      label: "x",
      at,
    });
    const hookAfter = (event: LinkledgerEvent) =>
      given(opened(), added(), event).subscribers.webhooks.get(HOOK);
    expect(hookAfter(moved)).toMatchObject({ url: "https://new.example/", activeSince: at });
    expect(hookAfter(named)).toMatchObject({ url: "https://hooks.example/", activeSince: AT });
  });

  it("are none while the account is on the Free tier", () => {
    expect(given(opened(), added(), tier("developer", "free")).clicked()).toEqual([]);
    const back = [tier("developer", "free"), tier("free", "developer")];
    expect(given(opened(), added(), ...back).clicked()).toEqual([HOOK]);
    expect(given(opened("free"), tier("free", "developer"), added()).clicked()).toEqual([HOOK]);
  });

  it("are not those that are paused, until they are resumed", () => {
    expect(given(opened(), added(), paused).clicked()).toEqual([]);
    const resumed = toHook("WebhookResumed", { at: "2026-03-02T00:00:00.000Z" });
    const { clicked, subscribers } = given(opened(), added(), paused, resumed);
    expect(clicked()).toEqual([HOOK]);
    expect(subscribers.webhooks.get(HOOK)?.activeSince).toBe("2026-03-02T00:00:00.000Z");
  });

  it("do not include removed webhooks, whose removal is reported once", () => {
    const { clicked, removed } = given(opened(), added(), toHook("WebhookRemoved"), toHook("WebhookRemoved"));
    expect(clicked()).toEqual([]);
    expect(removed).toEqual([HOOK]);
    const later = given(opened(), added(), toHook("WebhookRemoved"), toHook("WebhookResumed"));
    expect(later.clicked()).toEqual([]);
    expect(later.subscribers.webhooks.get(HOOK)?.status).toBe("removed");
  });

  it("are none of a closed account, whose webhooks are all removed", () => {
    const closed: EventOf<"AccountClosed"> = { type: "AccountClosed", data: of };
    const { clicked, removed } = given(opened(), added(), added(SECOND_HOOK), closed);
    expect(clicked()).toEqual([]);
    expect(removed).toEqual([HOOK, SECOND_HOOK]);
  });
});
