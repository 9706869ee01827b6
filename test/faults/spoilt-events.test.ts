// Twenty events of one account spoilt by hand: everybody else's numbers, webhooks, feeds and rebuilds are right, and each
// of the twenty is named wherever an operator or the account looks.

import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { statusForPeople } from "../../src/cli/projection-commands.ts";
import { currentLink } from "../../src/commands/links/link-stream.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { accountStream, CATEGORY } from "../../src/events/streams.ts";
import { eventPath } from "../../src/portal/admin/answer-cells.ts";
import { setAsideCard } from "../../src/portal/admin/projection-pages.ts";
import { html, htmlText } from "../../src/portal/shell/html.ts";
import { cards } from "../../src/portal/shell/layout.ts";
import { activeReadStore } from "../../src/projections/builds/active-read-store.ts";
import { finishBuild } from "../../src/projections/builds/await-builds.ts";
import { begin } from "../../src/projections/builds/builds.ts";
import { changeBuilds } from "../../src/projections/builds/builds-document.ts";
import { groupStatus } from "../../src/projections/builds/status.ts";
import { groupCollections, projectionGroups } from "../../src/projections/groups.ts";
import { projectionRows } from "../../src/queries/audit/projection-rows.ts";
import { linkHistory } from "../../src/queries/links/link-history.ts";
import { feedReader } from "../../src/queries/log-reader/feed.ts";
import { pause } from "../../src/runtime/pause.ts";
import { observer } from "../../src/service/monitoring/observe.ts";
import { problemsOf } from "../../src/service/monitoring/parts.ts";
import type { EventStore, Position, RecordedEvent } from "../../src/stores/event-store/port.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import type { Document, ReadStore } from "../../src/stores/read-store/port.ts";
import { routeClicks } from "../../src/webhooks/routing/router.ts";
import { verified } from "../support/audit/verified.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { spoilLogFile } from "../support/event-store/spoil-log-file.ts";
import { SPOILINGS, type Spoiling, spoiltEventStore } from "../support/event-store/spoilt-event-store.ts";
import { AT, KEY, linkClicked, linkCreated, linkDisabled } from "../support/event-store/stored-events.ts";
import { quietParts } from "../support/monitoring/quiet-parts.ts";
import { foldListed } from "../support/projections/fold-groups.ts";
import { append, openStores, type Stores } from "../support/runtime/stores.ts";
import { until } from "../support/runtime/until.ts";
import { webhookOf } from "../support/webhooks/webhook-of.ts";
import { openWebhookStores, type WebhookStores } from "../support/webhooks/webhook-run.ts";

const HOWS = Object.keys(SPOILINGS) as Spoiling[];
const LINKS = 10;
const log = pino({ level: "silent" });

/** How a log comes to have them: `log` is folded as it was before. */
type Spoil = (stores: WebhookStores, how: ReadonlyMap<Position, Spoiling>) => Promise<EventStore>;

const SPOILT: [string, Spoil][] = [
  ["as any store delivers them", async ({ backend }, how) => spoiltEventStore(backend.eventStore, how)],
  [
    "in the file of the embedded log",
    async ({ dataDir }, how) => {
      const file = join(dataDir, "events.db");
      spoilLogFile(file, how);
      // Another process's, which has nothing of the file in memory.
      return await openSqliteEventStore(file);
    },
  ],
];

describe.each(SPOILT)("twenty spoilt events of one account, %s", { timeout: 60_000 }, (_, spoil) => {
  let stores: WebhookStores;
  let sound: Stores;
  let eventStore: EventStore;
  let [victim, other] = ["", ""];
  let hooks: Record<"victim" | "other", string>;
  let spoilt: RecordedEvent[];
  let clicksOfOther: string[];

  beforeAll(async () => {
    stores = await openWebhookStores();
    sound = await openStores();
    const log = stores.backend.eventStore;
    [victim, other] = [await stores.account(), await stores.account()];
    const hookOf = async (account: string) => (await webhookOf(stores.backend, account, 8080)).webhookId;
    hooks = { victim: await hookOf(victim), other: await hookOf(other) };
    const keyIds = [KEY, KEY.replace(/^1/, "2"), KEY.replace(/^1/, "3"), KEY.replace(/^1/, "4")];
    for (const [n, keyId] of keyIds.entries()) {
      const data = {
        accountId: victim,
        keyId,
        keyHash: String(n).repeat(64),
        hint: "abcd",
        label: "",
        at: AT,
      };
      await append(log, accountStream(victim), [{ type: "KeyIssued", data }]);
    }
    for (let n = 0; n < LINKS; n++)
      for (const [account, slug] of [
        [victim, `v${n}`],
        [other, `o${n}`],
      ] as const) {
        const disabled = { ...linkDisabled(slug), data: { ...linkDisabled(slug).data, accountId: account } };
        for (const change of [linkCreated({ slug, accountId: account }), disabled])
          await append(log, `link-sho.rt/${slug}`, [change]);
        const click = linkClicked({ link: `sho.rt/${slug}`, accountId: account });
        for (const one of [click, click, click]) await append(log, "clicks-a-20260301", [one]);
      }
    const all = await loggedEvents(log, { categories: Object.values(CATEGORY), limit: 1_000 });
    const isOf = (account: string) => (one: RecordedEvent) =>
      (one.data as { accountId?: string }).accountId === account;
    const own = all.filter(isOf(victim));
    const some = (type: string, count: number) => own.filter((one) => one.type === type).slice(0, count);
    spoilt = [
      ...some("KeyIssued", 4),
      ...some("LinkCreated", 4),
      ...some("LinkDisabled", 8).slice(4),
      ...some("LinkClicked", 8),
    ];
    const how = new Map<Position, Spoiling>(
      spoilt.map(({ position }, n) => [position, HOWS[n % HOWS.length] as Spoiling]),
    );
    await fold(log, sound.readStore);
    eventStore = await spoil(stores, how);
    clicksOfOther = all
      .filter(isOf(other))
      .filter(({ type }) => type === "LinkClicked")
      .map(({ id }) => id);
    await fold(eventStore, stores.backend.foldStore);
    await route();
  });
  afterAll(async () => {
    if (eventStore !== stores.backend.eventStore) await eventStore.close();
    await stores.close();
    await sound.close();
  });

  const foldDeps = (from: EventStore, readStore: ReadStore) => {
    const { newId } = runtimeDeps;
    return { eventStore: from, readStore, newId, log, isServed: async () => false };
  };
  const fold = async (from: EventStore, readStore: ReadStore) => {
    for (const group of projectionGroups) await foldListed(foldDeps(from, readStore), group);
  };
  async function route(): Promise<void> {
    const { deliveryQueue: queue } = stores.backend;
    const stop = new AbortController();
    const routing = routeClicks(
      {
        ...{ eventStore, queue, clock: runtimeDeps.clock },
        ...{ onQueued: () => undefined, onProgress: () => undefined, log: { error: () => undefined } },
        baseUrl: "https://sho.rt",
      },
      stop.signal,
    );
    const head = await eventStore.head();
    await until("the router to pass the head", async () => {
      return (await queue.routed())?.position === head;
    }).finally(() => stop.abort());
    await routing;
  }
  const rowsDeps = () => {
    const { foldStore, deliveryQueue } = stores.backend;
    return { eventStore, foldStore, deliveryQueue, clock: runtimeDeps.clock };
  };
  function statuses() {
    const { foldStore: readStore } = stores.backend;
    const deps = { eventStore, readStore, clock: runtimeDeps.clock };
    return Promise.all(projectionGroups.map((group) => groupStatus(deps, group)()));
  }
  const positions = () => spoilt.map(({ position }) => position).sort();
  const clickPositions = () =>
    spoilt.flatMap(({ type, position }) => (type === "LinkClicked" ? [position] : []));
  /** Those of the twenty that a text names. */
  const namedIn = (text: string) => positions().filter((position) => text.includes(position));

  /** What others have, as it is folded: all but what belongs to the victim, by account, link or event. */
  async function documentsOfOthers(store: ReadStore): Promise<Record<string, Document[]>> {
    const readStore = activeReadStore({ store, groups: projectionGroups, clock: () => performance.now() });
    const found: Record<string, Document[]> = {};
    for (const { name } of projectionGroups.flatMap(groupCollections)) {
      const all = await readStore.find<Document>(name, { limit: 10_000 });
      const text = (one: Document) => JSON.stringify(one);
      found[name] = all.filter((one) => text(one).includes(other) || text(one).includes("sho.rt/o"));
    }
    return found;
  }

  it("has everybody else's numbers right, also after a rebuild", async () => {
    const expected = await documentsOfOthers(sound.readStore);
    expect(Object.values(expected).flat().length).toBeGreaterThan(30);
    expect(await documentsOfOthers(stores.backend.foldStore)).toEqual(expected);
    const { foldStore: readStore } = stores.backend;
    const deps = foldDeps(eventStore, readStore);
    for (const group of projectionGroups) {
      const begun = await changeBuilds(deps, group, (builds) => begin(builds, group));
      await finishBuild(deps, group, begun, new AbortController().signal);
    }
    expect(await documentsOfOthers(readStore)).toEqual(expected);
  });

  it("delivers everybody else's webhooks, and the victim's but for what is spoilt", async () => {
    const queued = async (webhookId: string) =>
      (await stores.backend.deliveryQueue.list({ webhookId, limit: 1_000 })).map(({ eventId }) => eventId);
    expect((await queued(hooks.other)).sort()).toEqual(clicksOfOther.toSorted());
    expect(await queued(hooks.victim)).toHaveLength(3 * LINKS - clickPositions().length);
  });

  it("names each in the status, for people and for programs", async () => {
    const rows = await projectionRows(rowsDeps());
    expect(namedIn(JSON.stringify(rows.projections))).toEqual(positions());
    expect(namedIn(JSON.stringify(rows.webhook_router))).toEqual(expect.arrayContaining(clickPositions()));
    expect(namedIn(statusForPeople(rows).set_aside.join("\n"))).toEqual(positions());
    expect(rows.projections.map(({ state }) => state)).toEqual(projectionGroups.map(() => "current"));
  });

  it("leaves the process ready, and degraded by each", async () => {
    const { backend } = stores;
    const place = await backend.deliveryQueue.routed();
    const { readStore } = backend;
    const parts = quietParts({ eventStore, readStore, projections: statuses }, place?.setAside);
    const problems = problemsOf(await observer(parts).look());
    expect(problems.map(({ level }) => level)).not.toContain("unready");
    expect(namedIn(JSON.stringify(problems))).toEqual(positions());
    expect(problems.map(({ part }) => part)).toContain("webhook router");
  });

  it("lists each in the console, with a link to the event", async () => {
    const { projections, webhook_router: router } = await projectionRows(rowsDeps());
    const drawn = [...projections, router].map((row) =>
      htmlText(cards([setAsideCard(row.set_aside, "why")])),
    );
    const path = ({ stream, revision }: RecordedEvent) => htmlText(html`"${eventPath(stream, revision)}"`);
    expect(spoilt.filter((event) => !drawn.some((card) => card.includes(path(event))))).toEqual([]);
  });

  it("names each in `audit verify`, which finds nothing else", async () => {
    const found = await verified(eventStore);
    expect(found.problems.map(({ check, position }) => `${check} ${position}`).sort()).toEqual(
      positions().map((position) => `schema ${position}`),
    );
  });

  it("has each in the victim's feed, and in others' only what may be theirs", async () => {
    const reader = feedReader({ eventStore, baseUrl: "http://localhost", sleep: pause, log });
    const feed = async (account: string) => {
      const { events } = await reader.feed(account, { after: undefined, types: [], limit: 1_000 }, "plain");
      return events.map((json) => JSON.parse(json) as { position: string; type: string; error?: string });
    };
    const unreadable = async (account: string) =>
      (await feed(account))
        .filter(({ type, error }) => type === "Unreadable" && error)
        .map(({ position }) => position);
    expect((await unreadable(victim)).sort()).toEqual(positions());
    const shownToOthers = await unreadable(other);
    const named = spoilt.filter(({ position }) => shownToOthers.includes(position));
    // Streams tell whose links and accounts they are of, clicks of all share one.
    expect(new Set(named.map(({ type }) => type))).toEqual(new Set(["LinkClicked"]));
    const live = reader.followAccount(other, undefined, [], "plain", AbortSignal.timeout(20_000));
    const seen: string[] = [];
    for await (const { events } of live) {
      seen.push(...events.map(({ position }) => position));
      if (seen.length >= (await feed(other)).length) break;
    }
    expect(seen).toEqual((await feed(other)).map(({ position }) => position));
  });

  it("refuses a command on a stream that is spoilt, and shows its history", async () => {
    const bad = spoilt.find(({ type }) => type === "LinkDisabled") as RecordedEvent;
    const slug = bad.stream.slice(bad.stream.indexOf("/") + 1);
    await expect(currentLink(eventStore, { host: "sho.rt", slug })).rejects.toMatchObject({
      code: "event_unreadable",
    });
    const { history } = await linkHistory({ eventStore }, victim, "sho.rt", slug);
    expect(history.map(({ type }) => type)).toEqual(["LinkCreated", "Unreadable"]);
    expect(await currentLink(eventStore, { host: "sho.rt", slug: "o1" })).toMatchObject({
      status: "disabled",
    });
  });
});
