// Streams that somebody deleted or cut on EventStoreDB, whose events stay in the log: what `audit verify` says of each.
import { randomUUID } from "node:crypto";
import type { EventStoreDBClient } from "@eventstore/db-client";
import { describe, expect, it } from "vitest";
import { Sealer } from "../../src/audit/seals/sealer.ts";
import { Servers } from "../../src/stores/event-store/eventstoredb/connection.ts";
import { KEYS } from "../support/audit/keys.ts";
import { verified } from "../support/audit/verified.ts";
import { EVENTSTOREDB, ownEventStoreDb } from "../support/event-store/eventstoredb-fixture.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../support/event-store/stored-events.ts";
import { append } from "../support/runtime/stores.ts";
import { officialClient } from "../support/servers/eventstoredb-server.ts";
import { onServerAtLength } from "../support/servers/test-servers.ts";

type Act = (client: EventStoreDBClient, stream: string, own: object) => Promise<unknown>;

const LINK = "link-sho.rt/l3";
const noted = { get: async () => undefined, set: async () => undefined };
const at = new Date().toISOString();

onServerAtLength({ name: EVENTSTOREDB, reason: undefined }, () =>
  describe(`a sealed log on ${EVENTSTOREDB}`, { timeout: 60_000 }, () => {
    it.each<[string, Act, stream: string, RegExp]>([
      ["deleted", (client, stream) => client.deleteStream(stream), LINK, /was deleted on the server/],
      ["tombstoned", (client, stream) => client.tombstoneStream(stream), LINK, /was deleted for good/],
      [
        "cut",
        (client, stream, own) => client.setStreamMetadata(stream, { truncateBefore: 1 }, own),
        LINK,
        /\(\$tb\)/,
      ],
      [
        "bounded",
        (client, stream, own) => client.setStreamMetadata(stream, { maxAge: 60 }, own),
        LINK,
        /\(\$maxAge\)/,
      ],
      [
        "deleted, of seals",
        (client, stream) => client.deleteStream(stream),
        "seals",
        /was deleted on the server/,
      ],
    ])("names a stream that was %s", async (name, act, stream, what) => {
      const fixture = await ownEventStoreDb();
      try {
        const { store: eventStore, prefix, url } = fixture;
        await append(eventStore, `account-${ACCOUNT}`, [
          { type: "AccountOpened", data: { accountId: ACCOUNT, at, tier: "developer" } },
        ]);
        for (let n = 0; n < 9; n += 1)
          await append(eventStore, `link-sho.rt/l${n}`, [linkCreated({ slug: `l${n}`, at })]);
        await append(
          eventStore,
          "clicks-a-20260301",
          Array.from({ length: 40 }, () => linkClicked({ link: "sho.rt/l1", at })),
        );
        const deps = { eventStore, keys: [KEYS] as const, noted, clock: () => new Date(), newId: randomUUID };
        const sealer = await Sealer.open(deps);
        while (await sealer.read());
        await sealer.seal();
        expect(await verified(eventStore)).toMatchObject({ ok: true, events: 50, problems: [] });
        const client = officialClient(url);
        await act(client, `${prefix}_${stream}`, { credentials: new Servers(url).credentials });
        await client.dispose();
        const { ok, sentence, problems } = await verified(eventStore);
        process.stdout.write(`${EVENTSTOREDB}, a stream ${name}: ${sentence}\n`);
        expect(ok).toBe(false);
        expect(problems).toContainEqual(
          expect.objectContaining({ check: "structure", stream, message: expect.stringMatching(what) }),
        );
      } finally {
        await fixture.close();
      }
    });
  }),
);
