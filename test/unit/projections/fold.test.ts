// The documents that a fold keeps in memory between commits.
import { expect, it } from "vitest";
import type { ClickEvent } from "../../../src/click-log/clicks-between.ts";
import { emptyDay } from "../../../src/projections/definitions/days/link-day.ts";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import type { DocumentCorrection } from "../../../src/projections/runner/document-correction.ts";
import { DocumentFold } from "../../../src/projections/runner/fold.ts";
import type { Document } from "../../../src/read-store/port.ts";
import { stored as event, linkClicked, position } from "../../support/event-store/stored-events.ts";

const LINK = "sho.rt/abc";

it("keeps a document from the second commit that changes it, as most are written once", async () => {
  const documents = new Map<string, string>();
  const read: string[] = [];
  const getMany = async <D extends Document>(_: string, ids: readonly string[]) => {
    read.push(...ids);
    return ids.flatMap((id) => documents.get(id) ?? []).map((json) => JSON.parse(json) as D);
  };
  const fold = new DocumentFold(linkClicks, { getMany, find: async () => [] });
  const readFor = async (n: number) => {
    await fold.fold([event(n, linkClicked({ link: LINK }))]);
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

it("counts a late click in its day as that was when it ended, not in the empty one that was kept before", async () => {
  const stored = new Map<string, string>();
  const getMany = async <D extends Document>(_: string, ids: readonly string[]) =>
    ids.flatMap((id) => stored.get(id) ?? []).map((json) => JSON.parse(json) as D);
  const fold = new DocumentFold(linkClicks, { getMany, find: async () => [] });
  const commit = () => {
    for (const document of fold.changed().flatMap((one) => one.documents))
      stored.set(document._id, JSON.stringify(document));
    fold.committed();
  };
  const first = `${LINK}@2026-03-01`;
  stored.set(first, JSON.stringify({ ...emptyDay(), _id: first, _position: "" }));
  // All of its clicks are withdrawn: the day is read, and kept as it is then.
  const click = event(0, linkClicked({ link: LINK })) as ClickEvent;
  const withdrawal = fold.correction(position(0)) as DocumentCorrection;
  await withdrawal.add([{ click, counted: true, counts: false }]);
  fold.put(await withdrawal.documents());
  commit();
  expect(JSON.parse(stored.get(first) ?? "{}")).toMatchObject({ _position: position(0), _emptied: true });
  for (const [n, day] of ["01", "02", "01"].entries()) {
    await fold.fold([event(n + 1, linkClicked({ link: LINK, at: `2026-03-${day}T10:00:00.000Z` }))]);
    commit();
  }
  expect(JSON.parse(stored.get(first) ?? "{}")).toMatchObject({
    ...{ first: position(1), last: position(3), quarters: [[40, 2, 0, 0]] },
  });
});

it("counts a late click in its day as that ended since the last commit, not as it is stored", async () => {
  const first = `${LINK}@2026-03-01`;
  const emptied = { ...emptyDay(), _id: first, _position: position(0), _emptied: true };
  const fold = new DocumentFold(linkClicks, {
    getMany: async <D extends Document>(_: string, ids: readonly string[]) =>
      ids.includes(first) ? [structuredClone<Document>(emptied) as D] : [],
    find: async () => [],
  });
  for (const [n, day] of ["01", "02", "01"].entries())
    await fold.fold([event(n + 1, linkClicked({ link: LINK, at: `2026-03-${day}T10:00:00.000Z` }))]);
  const documents = fold.changed().flatMap((one) => one.documents);
  expect(documents.find(({ _id }) => _id === first)).toMatchObject({
    ...{ first: position(1), last: position(3), quarters: [[40, 2, 0, 0]] },
  });
});

it("looks nothing up in an empty collection until the first commit", async () => {
  const read: string[] = [];
  const stored: Document[] = [];
  const fold = new DocumentFold(linkClicks, {
    getMany: async (_, ids) => {
      read.push(...ids);
      return [];
    },
    find: async <D extends Document>() => stored as D[],
  });
  const readFor = async (n: number, link: string) => {
    await fold.fold([event(n, linkClicked({ link }))]);
    return read.splice(0);
  };
  await fold.begin();
  expect(await readFor(0, LINK)).toEqual([]);
  expect(await readFor(1, LINK)).toEqual([]);
  const [documents] = fold.changed().map((one) => one.documents);
  expect(documents).toMatchObject([{ _id: LINK, totalClicks: 2 }]);
  fold.committed();
  expect(await readFor(2, "sho.rt/other")).toEqual(["sho.rt/other"]);
  // As a crash between documents and checkpoint leaves it.
  stored.push({ _id: "sho.rt/stored", _position: position(0) });
  await fold.begin();
  expect(await readFor(3, LINK)).toEqual([LINK]);
});

it("keeps no document in memory that contains the events already, as it isn't counted in their size", async () => {
  const contained = { _id: LINK, _position: position(9), date: "2026-03-01" };
  const read: string[] = [];
  const fold = new DocumentFold(linkClicks, {
    getMany: async <D extends Document>(_: string, ids: readonly string[]) => {
      read.push(...ids);
      return [structuredClone<Document>(contained) as D];
    },
    find: async () => [],
  });
  for (const n of [1, 2]) await fold.fold([event(n, linkClicked({ link: LINK }))]);
  expect(fold.changed().flatMap((one) => one.documents)).toEqual([]);
  expect(read).toEqual([LINK, LINK]);
});
