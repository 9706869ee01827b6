// What a consumer notes of the events that it has passed: each once, the first thousand by name, and how many in all.
import { expect, it } from "vitest";
import { SetAsideNotes, setAsideEvent } from "../../../src/stores/coordination/set-aside.ts";

const eventAt = (n: number) =>
  setAsideEvent(
    { position: String(n).padStart(4, "0"), stream: "link-a", revision: n, type: "", error: "" },
    "damaged",
  );

it("notes an event once, and of more than a thousand only how many", () => {
  const notes = new SetAsideNotes();
  for (let n = 0; n < 1_003; n++) notes.add(eventAt(n));
  expect([notes.add(eventAt(7)), notes.add(eventAt(2_000))]).toEqual([false, false]);
  expect(notes.counted()).toEqual({ setAside: 1_004 });
  expect(notes.drain()).toHaveLength(1_000);
  expect(notes.drain()).toEqual([]);
});

it("goes on from the checkpoint: notes behind it count, and are not made again", async () => {
  const notes = new SetAsideNotes();
  const stored = [0, 1, 2].map((n) => ({ ...eventAt(n), _id: eventAt(n).position, _position: "" }));
  const readStore = { find: async <D>() => stored as unknown as D[] };
  await notes.restart(readStore, "notes", { position: eventAt(1).position, eventId: "", setAside: 2 });
  expect(notes.counted()).toEqual({ setAside: 3 });
  expect([notes.add(eventAt(2)), notes.add(eventAt(3))]).toEqual([false, true]);
});
