// Equal texts in memory once, and not for ever.
import { expect, it } from "vitest";
import { DIMENSIONS } from "../../../src/projections/definitions/click-dimensions.ts";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { sharedTexts } from "../../../src/projections/shared-texts.ts";
import { linkClicked, stored } from "../../support/event-store/stored-events.ts";
import { collectGarbage } from "../../support/runtime/collect-garbage.ts";

const LENGTH = 2_000;

it("keeps equal texts once, and forgets texts that aren't met again", () => {
  const shared = sharedTexts();
  const kept: string[] = [];
  const equal = heapOf(() => {
    for (let n = 0; n < 5_000; n++) kept.push(shared(fresh("a")));
  });
  expect(kept.every((text) => text === fresh("a"))).toBe(true);
  expect(equal).toBeLessThan(1_000 * LENGTH);
  const forgotten = heapOf(() => {
    for (let n = 0; n < 14_000; n++) shared(fresh(String(n)));
  });
  expect(forgotten).toBeLessThan(10_000 * LENGTH);
});

it("is asked for the texts that a link's document keeps", () => {
  const [event, same] = [stored(0, linkClicked()), stored(0, linkClicked())];
  const document = linkClicks.evolve(linkClicks.empty(event), event, (text) => text && `${text} (shared)`);
  const plain = linkClicks.evolve(linkClicks.empty(same), same);
  const texts = (value: unknown) => JSON.stringify(value).match(/ \(shared\)/g)?.length ?? 0;
  expect(texts(plain)).toBe(0);
  expect(texts(document.day.kinds.click?.tallies[DIMENSIONS.indexOf("cities")])).toBe(1);
  expect(texts(document.recent)).toBeGreaterThanOrEqual(3);
});

/** Not the same object as an equal text before. */
function fresh(begin: string): string {
  return Buffer.from(begin.padEnd(LENGTH, "x")).toString("latin1");
}

/** Bytes that are left of what `work` allocates. */
function heapOf(work: () => void): number {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  work();
  collectGarbage();
  return process.memoryUsage().heapUsed - before;
}
