// What a fold reads, and what it makes of documents and parts that are stored.
import { describe, expect, it } from "vitest";
import type { StoredEvent } from "../../../src/events/catalogue.ts";
import { emptyDay } from "../../../src/projections/definitions/days/link-day.ts";
import { earlierOf, linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { foldDocuments } from "../../../src/projections/runner/fold.ts";
import type { Document } from "../../../src/read-store/port.ts";
import { stored as event, linkClicked, position } from "../../support/event-store/stored-events.ts";

const LINK = "sho.rt/abc";
const OTHER = "sho.rt/other";
const FIRST_DAY = `${LINK}@2026-03-01`;
const [THIRD, FOURTH, FIFTH, SEVENTH] = [
  click(3, "2026-03-01"),
  click(4, "2026-03-01"),
  click(5, "2026-03-01"),
  click(7, "2026-03-01"),
];

describe("a fold", () => {
  it("reads each document once for all of its events", async () => {
    const { read, folded } = await fold(
      [],
      [
        [LINK, [THIRD, FIFTH]],
        [OTHER, [FOURTH]],
      ],
    );
    expect(read).toEqual([LINK, OTHER]);
    expect(folded).toMatchObject({
      documents: [
        { _id: LINK, _position: FIFTH.position, totalClicks: 2 },
        { _id: OTHER, _position: FOURTH.position, totalClicks: 1 },
      ],
      parts: [],
    });
  });

  it("continues from the stored document, without the events that it contains already", async () => {
    const before = await fold([], [[LINK, [THIRD, FIFTH]]]);
    const { folded } = await fold(before.documents, [[LINK, [THIRD, FOURTH, FIFTH, SEVENTH]]]);
    expect(folded).toMatchObject({ documents: [{ _position: SEVENTH.position, totalClicks: 3 }] });
  });

  it("changes no document that contains all events", async () => {
    const before = await fold([], [[LINK, [THIRD, FIFTH]]]);
    expect((await fold(before.documents, [[LINK, [FOURTH]]])).folded).toEqual({ documents: [], parts: [] });
  });

  it("reads the parts of a document only where a click isn't of its present day", async () => {
    const before = await fold([], [[LINK, [THIRD]]]);
    expect((await fold(before.documents, [[LINK, [FOURTH]]])).read).toEqual([LINK]);
    const { read } = await fold(before.documents, [[LINK, [click(6, "2026-03-02")]]]);
    expect(read).toEqual([LINK, FIRST_DAY, earlierOf(LINK)]);
  });

  it("changes no part that contains the click already, as after a crash before its document was written", async () => {
    const clicks: [string, StoredEvent[]][] = [[LINK, [click(1, "2026-03-01"), click(2, "2026-03-02")]]];
    const { parts } = await fold([], clicks);
    expect(parts.map(({ _id }) => _id)).toContain(FIRST_DAY);
    const again = await fold(parts, clicks);
    expect(again).toMatchObject({ documents: [{ totalClicks: 2 }], parts: [] });
  });

  it("changes nothing by an event that is refused, and is told of it", async () => {
    const evolve: typeof linkClicks.evolve = (clicks, event, parts) => {
      const changed = linkClicks.evolve(clicks, event, parts);
      if (event.position === FOURTH.position) throw new Error("not this one");
      return changed;
    };
    const refused: [string, string][] = [];
    const folded = await foldDocuments(
      { ...linkClicks, evolve },
      { getMany: async () => [] },
      [
        [LINK, [THIRD, FOURTH, click(5, "2026-03-02"), click(7, "2026-03-02")]],
        [OTHER, [SEVENTH]],
      ],
      ({ position }, error) => refused.push([position, String(error)]),
    );
    expect(refused).toEqual([[FOURTH.position, "Error: not this one"]]);
    const without = await fold(
      [],
      [
        [LINK, [THIRD, click(5, "2026-03-02"), click(7, "2026-03-02")]],
        [OTHER, [SEVENTH]],
      ],
    );
    expect(folded).toEqual(without.folded);
  });

  it("changes nothing by an event whose change of a part throws", async () => {
    const evolve: typeof linkClicks.evolve = (clicks, { position }, parts) => {
      parts?.change(FIRST_DAY, () => {
        if (position === FOURTH.position) throw new Error("no such day");
        return emptyDay();
      });
      return clicks;
    };
    const waiting: [string, StoredEvent[]][] = [[LINK, [THIRD, FOURTH, FIFTH]]];
    const refused: StoredEvent[] = [];
    const reads = { getMany: async () => [] };
    const folded = await foldDocuments({ ...linkClicks, evolve }, reads, waiting, (one) => refused.push(one));
    expect(refused).toEqual([FOURTH]);
    expect(folded).toMatchObject({
      documents: [{ _position: FIFTH.position }],
      parts: [{ _id: FIRST_DAY, _position: FIFTH.position }],
    });
  });

  it("counts a late click in its day as that has ended among the same events, not as it is stored", async () => {
    const emptied = { ...emptyDay(), _id: FIRST_DAY, _position: position(0), _emptied: true };
    const { parts } = await fold(
      [emptied],
      [[LINK, ["01", "02", "01"].map((day, n) => click(n + 1, `2026-03-${day}`))]],
    );
    expect(parts.find(({ _id }) => _id === FIRST_DAY)).toMatchObject({
      ...{ first: position(1), last: position(3), quarters: [[40, 2, 0, 0]] },
    });
  });
});

function click(n: number, day: string): StoredEvent {
  return event(n, linkClicked({ link: LINK, at: `${day}T10:00:00.000Z` }));
}

/** `read`: the ids that the fold asked for, in turn. */
async function fold(
  stored: readonly Document[],
  waiting: readonly (readonly [string, readonly StoredEvent[]])[],
) {
  const read: string[] = [];
  const getMany = async <D extends Document>(_: string, ids: readonly string[]) => {
    read.push(...ids);
    return structuredClone(stored.filter(({ _id }) => ids.includes(_id))) as D[];
  };
  const folded = await foldDocuments(linkClicks, { getMany }, waiting, (_, error) => {
    throw error;
  });
  return { read, folded, ...folded };
}
