// A batch of clicks in columns has every member of LinkClicked, and repeats nothing that its hits share.
import { describe, expect, it } from "vitest";
import { eventsOf } from "../../../src/event-store/event-columns.ts";
import { catalogue } from "../../../src/events/catalogue.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { ClickColumns } from "../../../src/redirect/clicks/click-columns.ts";
import { enricher } from "../../../src/redirect/clicks/click-event.ts";
import { geoOf } from "../../../src/redirect/clicks/enrich/geo.ts";
import { packTarget } from "../../../src/redirect/clicks/hit.ts";
import { timeOrderedId } from "../../../src/runtime/time-ordered-id.ts";
import { clickedLink } from "../../support/redirect/clicked-link.ts";

const enrich = enricher(geoOf(undefined, undefined));
const CODES = { visitor: "0123456789abcdef", accountVisitor: "fedcba9876543210" };
const hit = {
  link: packTarget(clickedLink),
  at: Date.UTC(2026, 2, 1, 10),
  method: "GET",
  query: "",
  address: "203.0.113.9",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  referrer: "https://www.example.org/page?q=1",
  language: "fr-FR,fr;q=0.9",
  prefetch: "",
} as const;

describe("clicks in columns", () => {
  it("have the members of LinkClicked in their order, valid and with the id of writer, time and number", () => {
    const clicks = new ClickColumns("00112233445566ff");
    for (let n = 0; n < 3; n++) clicks.add(hit.at + n, 41 + n, enrich(hit), CODES);
    const [, , third] = eventsOf(clicks.columns());
    expect(Object.keys(third?.data as object)).toEqual(Object.keys(catalogue.LinkClicked.schema.shape));
    const data = third?.data as ReturnType<typeof catalogue.LinkClicked.schema.parse>;
    expect(() => newEvent({ type: "LinkClicked", data }, "id", third?.metadata as never)).not.toThrow();
    expect(data).toMatchObject({ at: "2026-03-01T10:00:00.002Z", link: clickedLink.key, ip: "203.0.113.0" });
    expect(third?.id).toBe(timeOrderedId(hit.at + 2, "0011223344000000002b"));
    expect(third?.metadata).toEqual({
      ...{ schemaVersion: 1, correlationId: third?.id, causationId: third?.id },
      actor: { type: "system", id: "redirect" },
    });
  });

  it("hold what hits share once", () => {
    const clicks = new ClickColumns("00112233445566ff");
    for (let n = 0; n < 100; n++) clicks.add(hit.at + n, n, enrich({ ...hit, query: `x=${n}` }), CODES);
    const text = JSON.stringify(clicks.columns());
    expect(text.split(clickedLink.longUrl)).toHaveLength(2);
    expect(text.split("Firefox/140.0")).toHaveLength(2);
  });
});
