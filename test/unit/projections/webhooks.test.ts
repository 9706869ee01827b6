// The webhooks projection: documents of given events.
import { describe, expect, it } from "vitest";
import type { LinkledgerEvent } from "../../../src/events/catalogue.ts";
import { webhooks } from "../../../src/projections/definitions/webhooks.ts";
import { ACCOUNT, AT, stored } from "../../support/event-store/stored-events.ts";
import { plainFold } from "../../support/projections/plain-fold.ts";

const WEBHOOK = "44444444-4444-4444-8444-444444444444";
const LATER = "2026-03-02T00:00:00.000Z";
const ofWebhook = { accountId: ACCOUNT, webhookId: WEBHOOK, at: LATER };
const added: LinkledgerEvent = {
  type: "WebhookAdded",
  data: {
    ...ofWebhook,
    at: AT,
    url: "https://hooks.example.com/",
    kinds: ["click", "qr_scan"],
    label: "ci",
    keyHint: "wxyz",
  },
};
const paused: LinkledgerEvent = {
  type: "WebhookPaused",
  data: { ...ofWebhook, by: "system", reason: "410 Gone" },
};

function given(...events: LinkledgerEvent[]) {
  const numbered = events.map((event, n) => stored(n, event));
  return [...plainFold(webhooks, numbered).values()];
}

describe("webhooks", () => {
  it("are active from the start, with their settings and the hint of their key", () => {
    const { position } = stored(0, added);
    expect(given(added)).toEqual([
      {
        _id: WEBHOOK,
        _position: position,
        accountId: ACCOUNT,
        url: "https://hooks.example.com/",
        label: "ci",
        kinds: ["click", "qr_scan"],
        status: "active",
        pausedBy: null,
        reason: null,
        pausedAt: null,
        keyHint: "wxyz",
        previousKeyUntil: null,
        addedAt: AT,
        changedAt: AT,
      },
    ]);
  });

  it("get new settings without other changes", () => {
    const changed: LinkledgerEvent = {
      type: "WebhookChanged",
      data: { ...ofWebhook, url: "https://other.example/", kinds: ["preview"], label: "" },
    };
    expect(given(added, paused, changed)).toMatchObject([
      { url: "https://other.example/", kinds: ["preview"], label: "", status: "paused", changedAt: LATER },
    ]);
  });

  it("show who paused them and why, until they are resumed", () => {
    const resumed: LinkledgerEvent = { type: "WebhookResumed", data: ofWebhook };
    expect(given(added, paused)).toMatchObject([
      { status: "paused", pausedBy: "system", reason: "410 Gone", pausedAt: LATER },
    ]);
    expect(given(added, paused, resumed)).toMatchObject([
      { status: "active", pausedBy: null, reason: null, pausedAt: null },
    ]);
  });

  it("show the cause of a pause that a new key ends, until it has ended", () => {
    const keyless: LinkledgerEvent = {
      type: "WebhookPaused",
      data: { ...ofWebhook, by: "system", reason: "its key is missing", cause: "key_missing" },
    };
    expect(given(added, keyless)).toMatchObject([{ status: "paused", cause: "key_missing" }]);
    for (const next of [{ type: "WebhookResumed", data: ofWebhook } as const, paused])
      expect(given(added, keyless, next)[0]).not.toHaveProperty("cause");
  });

  it("show until when the previous key is used too", () => {
    const rotated: LinkledgerEvent = {
      type: "WebhookKeyRotated",
      data: { ...ofWebhook, keyHint: "abcd", previousUntil: "2026-03-03T00:00:00.000Z" },
    };
    expect(given(added, rotated)).toMatchObject([
      { keyHint: "abcd", previousKeyUntil: "2026-03-03T00:00:00.000Z", status: "active" },
    ]);
  });

  it("keep their document when they are removed", () => {
    const removed: LinkledgerEvent = { type: "WebhookRemoved", data: ofWebhook };
    expect(given(added, paused, removed)).toMatchObject([{ status: "removed", pausedBy: null }]);
  });
});
