// The documents that a fold keeps in memory between commits.
import { expect, it } from "vitest";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { DocumentFold } from "../../../src/projections/runner/fold.ts";
import type { Document } from "../../../src/read-store/port.ts";
import { linkClicked, stored } from "../../support/event-store/stored-events.ts";

const LINK = "sho.rt/abc";

it("keeps a document from the second commit that changes it, as most are written once", async () => {
  const documents = new Map<string, string>();
  const read: string[] = [];
  const getMany = async <D extends Document>(_: string, ids: readonly string[]) => {
    read.push(...ids);
    return ids.flatMap((id) => documents.get(id) ?? []).map((json) => JSON.parse(json) as D);
  };
  const fold = new DocumentFold(linkClicks, { getMany });
  const readFor = async (n: number) => {
    await fold.fold([stored(n, linkClicked({ link: LINK }))]);
    for (const document of fold.changed().flatMap((one) => one.documents))
      documents.set(document._id, JSON.stringify(document));
    fold.committed();
    return read.splice(0);
  };
  expect(await readFor(0)).toEqual([LINK]);
  expect(await readFor(1)).toEqual([LINK]);
  expect(await readFor(2)).toEqual([]);
  expect(JSON.parse(documents.get(LINK) ?? "{}")).toMatchObject({ totalClicks: 3 });
});
