// What a webhook is told of a link's life: which events become deliveries, to whom, and their bodies.
import { describe, expect, it } from "vitest";
import type { EventOf, LinkEvent } from "../../../src/events/catalogue.ts";
import { linkStream } from "../../../src/events/streams.ts";
import { type ChosenSelection, selectionOf } from "../../../src/events/webhook-selection.ts";
import type { EventStore, RecordedEvent } from "../../../src/stores/event-store/port.ts";
import { deliveryMaker, selects } from "../../../src/webhooks/routing/deliveries-of.ts";
import { samplePayload } from "../../../src/webhooks/routing/sample-payload.ts";
import { ACCOUNT, AT, linkClicked, stored } from "../../support/event-store/stored-events.ts";

const BASE_URL = "https://go.example";
const of = { host: "go.example", slug: "spring", accountId: ACCOUNT, at: AT };
const created = (more: Partial<EventOf<"LinkCreated">["data"]> = {}): LinkEvent => ({
  type: "LinkCreated",
  data: {
    ...{ ...of, longUrl: "https://example.com/a", shortUrl: "https://go.example/spring" },
    ...{ via: "api", custom: true, tags: ["news"], ...more },
  },
});
const retargeted: LinkEvent = {
  type: "LinkRetargeted",
  data: { ...of, from: "https://example.com/a", to: "https://example.com/b" },
};
const retagged: LinkEvent = { type: "LinkOptionsChanged", data: { ...of, changes: { tags: ["sale"] } } };
const disabled: LinkEvent = { type: "LinkDisabled", data: of };
const deleted: LinkEvent = { type: "LinkDeleted", data: of };
const ALL = ["link.created", "link.updated", "link.deleted"] as const;

/** What the webhook is sent, of the link's events and then of a click at each of its revisions. */
async function sent(chosen: Omit<ChosenSelection, "kinds">, ...events: LinkEvent[]) {
  const stream = linkStream(of.host, of.slug);
  const log = events.map((event, revision) => ({ ...stored(revision, event), stream, revision }));
  const read = async (_: string, { from = 0 } = {}) => (log as RecordedEvent[]).slice(from);
  const deliveriesOf = deliveryMaker({ eventStore: { read } as Pick<EventStore, "read">, baseUrl: BASE_URL });
  const webhook = { webhookId: "hook", ...selectionOf({ kinds: ["click"], ...chosen }) };
  const clicks = log.map(({ revision }) =>
    stored(100 + revision, linkClicked({ link: "go.example/spring", linkRevision: revision })),
  );
  const bodies: Record<string, unknown>[] = [];
  for (const event of [...log, ...clicks]) {
    if (!selects(webhook, event)) continue;
    for (const { event: name, eventId, body } of await deliveriesOf(event, [webhook])) {
      expect(eventId).toBe(event.id);
      expect(JSON.parse(body).event).toBe(name);
      bodies.push(JSON.parse(body));
    }
  }
  return bodies;
}
const names = (bodies: Record<string, unknown>[]) => bodies.map(({ event }) => event);

describe("a webhook", () => {
  it("is told of clicks alone unless it chooses otherwise", async () => {
    expect(names(await sent({}, created(), deleted))).toEqual(["link.clicked", "link.clicked"]);
  });

  it("is told of the events that it chooses, in their order", async () => {
    const life = [created(), retargeted, disabled, deleted] as const;
    expect(names(await sent({ events: ALL }, ...life))).toEqual([
      "link.created",
      "link.updated",
      "link.updated",
      "link.deleted",
    ]);
    expect(names(await sent({ events: ["link.deleted"] }, ...life))).toEqual(["link.deleted"]);
  });

  it("gets the link as it was after the event, and what an update changed", async () => {
    const [first, second, third] = await sent({ events: ALL }, created(), retargeted, disabled);
    expect(first).toEqual({
      event: "link.created",
      timestamp: AT,
      data: expect.objectContaining({
        ...{ link_id: "spring", short_url: "https://go.example/spring", long_url: "https://example.com/a" },
        ...{ tags: ["news"], status: "live", revision: 0 },
      }),
    });
    expect(first?.data).not.toHaveProperty("changes");
    expect(second?.data).toMatchObject({ long_url: "https://example.com/b", status: "live", revision: 1 });
    expect(second).toHaveProperty("data.changes", {
      long_url: { from: "https://example.com/a", to: "https://example.com/b" },
    });
    expect(third).toHaveProperty("data.changes", {
      status: { from: "live", to: "disabled" },
      disabled: { from: false, to: true },
    });
  });

  it("is told of no link that was created in the portal, unless it chooses to be", async () => {
    const ofPortal = [created({ via: "web" }), retargeted, deleted] as const;
    const ofApi = [created(), retargeted, deleted] as const;
    const life = ["link.created", "link.updated", "link.deleted"];
    expect(await sent({ events: ALL }, ...ofPortal)).toEqual([]);
    for (const told of [ofPortal, ofApi])
      expect(names(await sent({ events: ALL, via: ["api", "web"] }, ...told))).toEqual(life);
    expect(await sent({ events: ALL, via: ["web"] }, ...ofApi)).toEqual([]);
  });

  it("is told of clicks on the portal's links where it chooses to be", () => {
    const click = (via: "api" | "web") => stored(1, linkClicked({ via }));
    const told = (via: ("api" | "web")[] | undefined, of: "api" | "web") =>
      selects(selectionOf({ kinds: ["click"], via }), click(of));
    expect([told(undefined, "api"), told(undefined, "web")]).toEqual([true, false]);
    expect([told(["api", "web"], "api"), told(["api", "web"], "web")]).toEqual([true, true]);
    expect([told(["web"], "api"), told(["web"], "web")]).toEqual([false, true]);
  });

  it("is told of the links on its domains alone", async () => {
    const everything = { events: ["link.clicked", ...ALL] } as const;
    expect(await sent({ ...everything, domains: ["other.example"] }, created(), deleted)).toEqual([]);
    expect(await sent({ ...everything, domains: ["go.example"] }, created(), deleted)).toHaveLength(4);
  });

  it("is told of links with one of its tags, as they were tagged at that moment", async () => {
    const everything = { events: ["link.clicked", ...ALL] } as const;
    const told = await sent({ ...everything, tags: ["sale", "x"] }, created(), retagged, retargeted);
    expect(names(told)).toEqual(["link.updated", "link.updated", "link.clicked", "link.clicked"]);
  });
});

describe("the test tool's sample", () => {
  it.each(ALL)("of %s has the members of a real delivery", async (name) => {
    const life = [created({ title: "Spring" }), retargeted, deleted] as const;
    const real = (await sent({ events: [name] }, ...life))[0];
    const sample = JSON.parse(samplePayload(name, BASE_URL, Date.parse(AT)));
    expect(Object.keys(sample.data).sort()).toEqual(Object.keys(real?.data as object).sort());
  });
});
