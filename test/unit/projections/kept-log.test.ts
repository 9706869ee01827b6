// Programs of two versions fold into one build where nobody raised the version of its group: a log that is kept says when
// documents change, beside the version that they had.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { collectionsOf } from "../../../src/projections/fold/build.ts";
import { type ProjectionGroup, projectionGroups } from "../../../src/projections/groups.ts";
import type { NewEvent } from "../../../src/stores/event-store/port.ts";
import { documentPages } from "../../../src/stores/read-store/document-pages.ts";
import type { ReadStore } from "../../../src/stores/read-store/port.ts";
import { appendNext } from "../../support/event-store/append-next.ts";
import { firstBuild, foldGroups } from "../../support/projections/fold-groups.ts";
import { openStores } from "../../support/runtime/stores.ts";

const FIXTURES = new URL("../../fixtures/", import.meta.url);

/** Beside its version, by the name of the group. */
const KEPT: Record<string, { version: number; documents: string }> = {
  lifecycle: { version: 7, documents: "140, b11fb17b0cc39d1b" },
  clicks: { version: 7, documents: "23, 8c3fc9ce41eaf807" },
};

type Line = { stream: string; event: NewEvent };

it("has the documents of a group change with its version alone", async () => {
  // What is folded by when an event was recorded.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-04T10:00:00.000Z") });
  const stores = await openStores();
  try {
    const lines = readFileSync(new URL("kept-log.jsonl", FIXTURES), "utf8").trimEnd().split("\n");
    for (const line of lines) {
      const { stream, event } = JSON.parse(line) as Line;
      await appendNext(stores.eventStore, stream, [event]);
    }
    await foldGroups(stores);
    const folded: typeof KEPT = {};
    for (const { setAside = 0 } of Object.values(await stores.readStore.checkpoints()))
      expect(setAside).toBe(0);
    for (const group of projectionGroups)
      folded[group.name] = { version: group.version, documents: await hashOf(stores.readStore, group) };
    expect(folded, "raise the version of the group in groups.ts, and keep here what it now folds").toEqual(
      KEPT,
    );
  } finally {
    vi.useRealTimers();
    await stores.close();
  }
});

/** Of all its documents, whatever the order of their members. */
async function hashOf(readStore: ReadStore, group: ProjectionGroup): Promise<string> {
  const hash = createHash("sha256");
  let documents = 0;
  for (const { name } of collectionsOf(group, firstBuild(group)))
    for await (const page of documentPages(readStore, name, { limit: 500 }))
      for (const document of page) {
        documents += 1;
        hash.update(`${name} ${JSON.stringify(sorted(document))}\n`);
      }
  return `${documents}, ${hash.digest("hex").slice(0, 16)}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
