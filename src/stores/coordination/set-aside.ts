// The events that a consumer of the log could not take and has passed: noted beside its checkpoint, until they are settled.

import { messageOf } from "../../runtime/errors.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import type { Position, RecordedEvent } from "../event-store/port.ts";
import type { Checkpoint, Document, ReadStore } from "../read-store/port.ts";

/** Why a consumer has passed an event. */
export type SetAsideEvent = Pick<RecordedEvent, "position" | "stream" | "revision" | "type"> & {
  error: string;
};

/** `events`: the first MOST_KEPT of them, in the order of the log. */
export type SetAside = { count: number; events: SetAsideEvent[] };

type Note = Document & SetAsideEvent;

/** Of each consumer; others are counted. */
const MOST_KEPT = 1_000;
const LONGEST_ERROR = 500;

/** Name of the collection of the notes: beside that of a build's documents, or of the consumer's own name. */
export function setAsideCollection(name: string): string {
  return `${name}-set-aside`;
}

export function setAsideEvent(
  { position, stream, revision, type }: SetAsideEvent | RecordedEvent,
  error: unknown,
): SetAsideEvent {
  return { position, stream, revision, type, error: cutText(messageOf(error), LONGEST_ERROR).toWellFormed() };
}

/**
 * What a consumer notes. Each note is a document whose id is the event's position, so that it is there once, however often the
 * event is met. It must be stored with or before what the consumer has made of later events.
 */
export class SetAsideNotes {
  /** Up to the last event taken. */
  #count = 0;
  #kept = new Set<Position>();
  #unwritten: Note[] = [];

  /** Goes on from the stored checkpoint, behind which there are notes already after a crash. @throws what the store throws */
  async restart(
    readStore: Pick<ReadStore, "find">,
    collection: string,
    checkpoint: Checkpoint | undefined,
  ): Promise<void> {
    const { position = "", setAside = 0 } = checkpoint ?? {};
    const stored = await readStore.find<Note>(collection, { limit: MOST_KEPT });
    this.#kept = new Set(stored.map(({ _id }) => _id));
    const later = stored.filter(({ _id }) => _id > position).length;
    // At least the notes: another process, which has folded the same events, may not have met what it found folded.
    this.#count = Math.max(setAside + later, stored.length);
    this.#unwritten = [];
  }

  /** Whether it makes a note of the event. */
  add(event: SetAsideEvent): boolean {
    const { position } = event;
    if (this.#kept.has(position)) return false;
    this.#count += 1;
    if (this.#kept.size >= MOST_KEPT) return false;
    this.#kept.add(position);
    this.#unwritten.push({ _id: position, _position: position, ...event });
    return true;
  }

  /** What is to be stored; each note once. */
  drain(): Document[] {
    return this.#unwritten.splice(0);
  }

  /** For the checkpoint. */
  counted(): Pick<Checkpoint, "setAside"> {
    return this.#count > 0 ? { setAside: this.#count } : {};
  }
}

/** `collection`: of the notes. @throws what the store throws */
export async function readSetAside(
  readStore: Pick<ReadStore, "find">,
  collection: string,
  checkpoint: Checkpoint | undefined,
): Promise<SetAside> {
  const count = checkpoint?.setAside ?? 0;
  // Nearly always, and this is asked for every second.
  if (count === 0) return { count, events: [] };
  const notes = await readStore.find<Note>(collection, { limit: MOST_KEPT });
  return { count, events: notes.map((note) => setAsideEvent(note, note.error)) };
}

/** Such as `2 events set aside: LinkClicked at 17, LinkCreated at 21`. `most`: how many are named. */
export function describeSetAside({ count, events }: SetAside, most: number): string {
  const named = events.slice(0, most).map(({ type, position }) => `${type || "unknown"} at ${position}`);
  const others = count > named.length ? `, and ${count - named.length} more` : "";
  return `${count} ${count === 1 ? "event" : "events"} set aside: ${named.join(", ")}${others}`;
}
