// Seals that another process appends while the log is verified, or while sealing begins.
import { afterEach, beforeEach, expect, it } from "vitest";
import { Sealer } from "../../../src/audit/seals/sealer.ts";
import { verifySealedLog } from "../../../src/audit/verify-sealed-log.ts";
import type { EventStore } from "../../../src/event-store/port.ts";
import { SEALS_STREAM } from "../../../src/events/streams.ts";
import { KEYS, type OpenSealedLog, openSealedLog } from "../../support/audit/open-sealed-log.ts";

let log: OpenSealedLog;
let eventStore: Pick<EventStore, "read" | "readAll" | "append">;

beforeEach(async () => {
  log = await openSealedLog();
  await log.seal();
  eventStore = sealedAfterFirstRead(log);
});
afterEach(() => log.close());

it("are not called removed by a verification", async () => {
  expect(await verifySealedLog({ ...log, eventStore, keys: [KEYS] })).toMatchObject({
    problems: [],
    seals: { newest: 0 },
  });
  expect(await log.eventStore.read(SEALS_STREAM)).toHaveLength(2);
});

it("are not called removed by who begins to seal", async () => {
  const { last } = await Sealer.open({ ...log, eventStore, keys: [KEYS] });
  expect(last?.number).toBe(0);
  expect(await log.eventStore.read(SEALS_STREAM)).toHaveLength(2);
});

/** Provokes the race: another process seals right after the seals were read for the first time. */
function sealedAfterFirstRead({ eventStore: store, click, seal }: OpenSealedLog) {
  let isSealed = false;
  return {
    readAll: store.readAll.bind(store),
    append: store.append.bind(store),
    async read(...[stream, options]: Parameters<EventStore["read"]>) {
      const found = await store.read(stream, options);
      if (stream !== SEALS_STREAM || isSealed) return found;
      isSealed = true;
      await click(3);
      await seal();
      return found;
    },
  };
}
