// What a full verification keeps of the log while it compares it with the seals.

import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { LogProblem } from "../../../src/audit/seals/places.ts";
import { SealedBlocks } from "../../../src/audit/seals/sealed-blocks.ts";
import type { RecordedEvent } from "../../../src/event-store/port.ts";
import { CATEGORY } from "../../../src/events/streams.ts";
import { KEYS, type OpenSealedLog, openSealedLog } from "../../support/audit/open-sealed-log.ts";
import { collectGarbage } from "../../support/runtime/collect-garbage.ts";

const [PAGE, PAGES] = [10, 6];

let log: OpenSealedLog;

beforeEach(async () => {
  log = await openSealedLog();
});
afterEach(() => log.close());

it.each([0, 1])(
  "counts what is behind the last of %d seals, and keeps no page but the first",
  async (seals) => {
    await log.click(PAGE - 2);
    for (let n = 0; n < seals; n += 1) await log.seal();
    await log.click(PAGE * (PAGES - 1));
    const reasons = new Map(Array.from({ length: seals }, (_, number) => [number, undefined]));
    const report = ({ message }: LogProblem) => expect.unreachable(message);
    const blocks = new SealedBlocks({ ...log, keys: [KEYS], reasons, report });
    const added: WeakRef<RecordedEvent>[][] = [];
    for (let page = 0; page < PAGES; page += 1) added.push(await addPage(blocks, page));
    await setImmediate();
    collectGarbage();
    const kept = added.map((events) => events.filter((event) => event.deref() !== undefined).length);
    expect(kept.slice(1)).toEqual(Array(PAGES - 1).fill(0));
    expect(await blocks.end()).toBe(PAGE * (PAGES - seals));
  },
);

/** Copies, as the event store keeps what it has decoded. */
async function addPage(blocks: SealedBlocks, page: number): Promise<WeakRef<RecordedEvent>[]> {
  const upTo = await log.eventStore.readAll({
    categories: Object.values(CATEGORY),
    limit: PAGE * (page + 1),
  });
  const events = structuredClone(upTo.slice(PAGE * page));
  await blocks.add(events);
  return events.map((event) => new WeakRef(event));
}
