// The index of events on every read store, with documents that a real projection runner folded from real events.
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LinkledgerEvent } from "../../src/events/catalogue.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { lifecycle } from "../../src/projections/groups.ts";
import { type EventFilter, findEvents, listStreams } from "../../src/queries/audit/find-events.ts";
import type { Actor } from "../../src/stores/event-store/port.ts";
import { appendNext } from "../support/event-store/append-next.ts";
import {
  ACCOUNT,
  AT,
  KEY,
  linkClicked,
  linkCreated,
  OTHER_ACCOUNT,
} from "../support/event-store/stored-events.ts";
import { foldGroups } from "../support/projections/fold-groups.ts";
import type { Stores } from "../support/runtime/stores.ts";

const byKey: Actor = { type: "key", id: KEY };
const byOwner: Actor = { type: "person", id: ACCOUNT };

/** `open`: empty stores, with the read store of the adapter. */
export function eventIndexContract(name: string, open: () => Promise<Stores>) {
  describe(`the index of events: ${name}`, { timeout: 60_000 }, () => {
    let stores: Stores;

    beforeEach(async () => {
      stores = await open();
      for (let n = 0; n < 5; n++)
        await happen(`link-sho.rt/l${n}`, linkCreated({ slug: `l${n}` }), byKey, "bulk");
      await happen(
        "link-sho.rt/theirs",
        linkCreated({ slug: "theirs", accountId: OTHER_ACCOUNT }),
        byKey,
        "x",
      );
      await happen("link-sho.rt/l2", disabled("l2"), byOwner, "portal");
      await happen(
        "clicks-w-20260301",
        linkClicked({ link: "sho.rt/l1" }),
        { type: "system", id: "r" },
        "click",
      );
      await happen("account-a", {
        type: "AccountOpened",
        data: { accountId: ACCOUNT, tier: "free", at: AT },
      });
      await foldGroups(stores, [lifecycle]);
    });
    afterEach(async () => await stores.close());

    async function happen(
      stream: string,
      event: LinkledgerEvent,
      actor: Actor = { type: "operator" },
      correlationId = "cli",
    ) {
      const origin = { correlationId, causationId: correlationId, actor };
      await appendNext(stores.eventStore, stream, [newEvent(event, randomUUID(), origin)]);
    }
    function disabled(slug: string): LinkledgerEvent {
      return { type: "LinkDisabled", data: { host: "sho.rt", slug, accountId: ACCOUNT, at: AT } };
    }
    const all = { limit: 100 };
    const found = async (filter: EventFilter) =>
      (await findEvents(stores, filter, all)).events.map(({ stream, type }) => `${stream} ${type}`);

    it("holds every event but clicks, newest first", async () => {
      const { events, next } = await findEvents(stores, {}, all);
      expect(events.map(({ type }) => type)).toEqual([
        ...["AccountOpened", "LinkDisabled"],
        ...Array.from({ length: 6 }, () => "LinkCreated"),
      ]);
      expect(next).toBeNull();
      expect(events[1]).toMatchObject({
        ...{ stream: "link-sho.rt/l2", revision: 1, account: ACCOUNT, actor: `person:${ACCOUNT}` },
        ...{ correlation_id: "portal", recorded_at: expect.stringMatching(/^20\d\d-/) },
      });
    });

    it("is asked for category, account, actor, correlation id, type, time and position, one or all", async () => {
      expect(await found({ correlationId: "portal" })).toEqual(["link-sho.rt/l2 LinkDisabled"]);
      expect(await found({ actor: `key:${KEY}`, account: OTHER_ACCOUNT })).toEqual([
        "link-sho.rt/theirs LinkCreated",
      ]);
      expect(await found({ actor: "person" })).toEqual(["link-sho.rt/l2 LinkDisabled"]);
      expect(await found({ category: "account" })).toEqual(["account-a AccountOpened"]);
      expect(await found({ type: "LinkDisabled", actor: "operator" })).toEqual([]);
      const { events } = await findEvents(stores, {}, all);
      const [third, fourth] = [events[2], events[3]];
      expect(await found({ upTo: third?.position, account: OTHER_ACCOUNT })).toHaveLength(1);
      expect(await found({ upTo: fourth?.position, account: OTHER_ACCOUNT })).toHaveLength(0);
      expect(await found({ upTo: fourth?.position, correlationId: "bulk", to: "2999" })).toHaveLength(5);
      expect(await found({ from: fourth?.recorded_at, to: "2999-01-01T00:00:00.000Z" })).toContain(
        "link-sho.rt/theirs LinkCreated",
      );
      expect(await found({ from: "2999-01-01T00:00:00.000Z" })).toEqual([]);
      await expect(found({ upTo: "yesterday" })).rejects.toMatchObject({ code: "invalid_position" });
    });

    it("answers page by page, without gaps and repetitions", async () => {
      const whole = (await findEvents(stores, {}, all)).events;
      const paged: unknown[] = [];
      let cursor: string | null = null;
      do {
        const page = await findEvents(stores, {}, { limit: 3, ...(cursor ? { cursor } : {}) });
        paged.push(...page.events);
        cursor = page.next;
      } while (cursor !== null);
      expect(paged).toEqual(whole);
    });

    it("lists the streams of a category, and of an account within it, with their last events", async () => {
      const { streams } = await listStreams(stores, { category: "link", account: ACCOUNT }, all);
      expect(streams.map(({ stream, events, last_type }) => [stream, events, last_type])).toEqual([
        ["link-sho.rt/l4", 1, "LinkCreated"],
        ["link-sho.rt/l3", 1, "LinkCreated"],
        ["link-sho.rt/l2", 2, "LinkDisabled"],
        ["link-sho.rt/l1", 1, "LinkCreated"],
        ["link-sho.rt/l0", 1, "LinkCreated"],
      ]);
      expect((await listStreams(stores, { category: "link" }, all)).streams).toHaveLength(6);
      expect((await listStreams(stores, { category: "seals" }, all)).streams).toEqual([]);
    });
  });
}
