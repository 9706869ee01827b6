// A build while it is folded: its documents and checkpoint in memory, and the one commit that writes both.
import type { StoredEvent } from "../../events/catalogue.ts";
import { reclassified } from "../../events/classification/reclassify.ts";
import { PREFIX } from "../../events/streams.ts";
import { isOfThisLog } from "../../stores/event-store/foreign-position.ts";
import { type LogPage, type Position, START } from "../../stores/event-store/port.ts";
import type { AwaitedEvent, Checkpoint, Document } from "../../stores/read-store/port.ts";
import { type SetAsideEvent, SetAsideNotes, setAsideEvent } from "../../stores/read-store/set-aside.ts";
import type { Build } from "../builds/builds.ts";
import { checkpointName, collectionName, collectionsOf, notesName } from "../builds/builds-document.ts";
import { type AccountDayDocument, accountDays } from "../definitions/days/account-day.ts";
import { linkDays } from "../definitions/days/link-day.ts";
import { linkClicks } from "../definitions/link-clicks.ts";
import type { ProjectionGroup } from "../groups.ts";
import { Documents } from "./documents.ts";
import { parseBatch } from "./event-batch.ts";
import { type FoldDeps, FoldedFromElsewhere } from "./fold-deps.ts";
import { type PendingWithdrawal, Recount } from "./recount.ts";

const WITHDRAWALS: ReadonlySet<string> = new Set(["ClicksWithdrawn", "ClicksRestored"]);
/** Of the events that a commit sets aside. */
const MOST_LOGGED = 10;

/** What of a build is not in its documents: withdrawals, whose clicks are being counted again. */
type More = { pending: PendingWithdrawal[] };

const AT_START: Checkpoint = { position: START, eventId: "" };

/**
 * Goes on from the build's checkpoint. One without a checkpoint begins with nothing, as what is in its collections is of
 * another time, and with a checkpoint: a first commit without one would not notice that its documents were dropped before it
 * ended. @throws FoldedFromElsewhere when the log has another event there, or none; CheckpointMoved
 */
export async function openBuild(deps: FoldDeps, group: ProjectionGroup, build: Build): Promise<BuildState> {
  const { readStore } = deps;
  const name = checkpointName(group, build);
  const stored = await readStore.checkpoint(name);
  const checkpoint = stored ?? AT_START;
  const specs = collectionsOf(group, build);
  if (!stored) for (const spec of specs) await readStore.drop(spec.name);
  await readStore.ensure(specs);
  if (!stored) await readStore.write({ documents: [], checkpoint: { name, from: stored, to: checkpoint } });
  const because = await whyAnew(deps, name, checkpoint);
  if (because !== undefined) throw new FoldedFromElsewhere(because);
  const state = new BuildState(deps, group, build, checkpoint);
  await state.open();
  return state;
}

/** Why the documents under a checkpoint can't be folded on; undefined where they can. @throws StoreUnavailable */
export async function whyAnew(
  { eventStore, readStore }: Pick<FoldDeps, "eventStore" | "readStore">,
  name: string,
  checkpoint: Checkpoint,
): Promise<string | undefined> {
  if (!(await isOfThisLog({ eventStore }, checkpoint)))
    return `the documents were folded from another log, which had another event at ${checkpoint.position}`;
  const inconsistency = await readStore.inconsistency(name);
  return (
    inconsistency && `the documents were put back from a copy of several moments (${name}: ${inconsistency})`
  );
}

export class BuildState {
  /** Up to where the log was looked through. */
  position: Position;
  /** The first event of a newer program: it takes none after it. */
  waitsFor: AwaitedEvent | undefined;
  /** Events taken since the last commit. */
  taken = 0;
  readonly #deps: FoldDeps;
  readonly #group: ProjectionGroup;
  readonly #build: Build;
  readonly #name: string;
  readonly #documents: readonly Documents[];
  readonly #byType = new Map<string, Documents[]>();
  readonly #notes = new SetAsideNotes();
  #noted: SetAsideEvent[] = [];
  /** The last event that was taken, or at which the last commit stands. */
  #last: { position: Position; eventId: string };
  #committed: Checkpoint;
  #isUncommitted = false;
  #pending: PendingWithdrawal[];
  #recount: { recount: Recount; steps: AsyncGenerator<void, void> } | undefined;

  constructor(deps: FoldDeps, group: ProjectionGroup, build: Build, checkpoint: Checkpoint) {
    this.#deps = deps;
    this.#group = group;
    this.#build = build;
    this.#name = checkpointName(group, build);
    this.#committed = checkpoint;
    this.position = checkpoint.position;
    this.#last = checkpoint;
    this.#pending = (checkpoint.more as More | undefined)?.pending ?? [];
    this.#documents = group.projections.map(
      (projection) =>
        new Documents(projection, collectionName(projection.collection.name, build), deps.readStore),
    );
    for (const documents of this.#documents)
      for (const type of documents.projection.handles)
        this.#byType.set(type, [...(this.#byType.get(type) ?? []), documents]);
  }

  async open(): Promise<void> {
    await this.#notes.restart(this.#deps.readStore, notesName(this.#group, this.#build), this.#committed);
  }

  get isUncommitted(): boolean {
    return this.#isUncommitted;
  }

  /** Whether the log was looked through beyond the checkpoint, and only events of others were there. */
  get hasPassedOthers(): boolean {
    return !this.#isUncommitted && this.position > this.#committed.position;
  }

  /** Of the checkpoint that the next commit continues. */
  get committedPosition(): Position {
    return this.#committed.position;
  }

  /** Documents that the next commit writes. */
  get changing(): number {
    return this.#documents.reduce((sum, { changing }) => sum + changing, 0);
  }

  /** Whether there are withdrawals that are not in the documents yet. */
  get isPending(): boolean {
    return this.#pending.length > 0;
  }

  get isRecounting(): boolean {
    return this.#recount !== undefined;
  }

  take({ events, next }: LogPage): void {
    const newer = events.filter(({ position }) => position > this.position);
    const batch = parseBatch(newer, (type) => this.#byType.has(type) || this.#isWithdrawal(type));
    for (const event of batch.unreadable) this.#note(event);
    for (const event of batch.events) this.#takeEvent(event);
    if (batch.waitsFor) this.waitsFor = batch.waitsFor;
    this.#isUncommitted ||= batch.count > 0 || batch.waitsFor !== undefined;
    this.taken += batch.count;
    if (batch.last) this.#last = { position: batch.last.position, eventId: batch.last.id };
    this.position = batch.waitsFor ? this.#last.position : next;
  }

  /** Returns how many events it has passed. @throws CheckpointMoved, what the read store throws */
  async commit(): Promise<number> {
    const { readStore, log } = this.#deps;
    const folded: { collection: string; documents: readonly Document[] }[] = [];
    for (const documents of this.#documents)
      folded.push({
        collection: documents.collection,
        documents: await documents.fold((event, error) => this.#note(setAsideEvent(event, error))),
      });
    const notes = { collection: notesName(this.#group, this.#build), documents: this.#notes.drain() };
    const to: Checkpoint = {
      ...(await this.#reached()),
      ...this.#notes.counted(),
      ...(this.waitsFor && { waitsFor: this.waitsFor }),
      ...(this.isPending && { more: { pending: this.#pending } satisfies More }),
    };
    // The notes first: a document is never stored before the note of what it lacks.
    const checkpoint = { name: this.#name, from: this.#committed, to };
    await readStore.write({ documents: [notes, ...folded], checkpoint });
    for (const event of this.#noted.slice(0, MOST_LOGGED))
      log.error({ build: this.#name, ...event }, "an event can't be folded and was set aside");
    if (this.#noted.length > MOST_LOGGED)
      log.error(
        { build: this.#name, others: this.#noted.length - MOST_LOGGED },
        "others were set aside, too",
      );
    if (this.waitsFor)
      log.error({ build: this.#name, ...this.waitsFor }, "projections wait for a newer program");
    const events = this.taken;
    [this.#committed, this.#noted, this.taken, this.#isUncommitted] = [to, [], 0, false];
    this.#last = { position: to.position, eventId: to.eventId };
    return events;
  }

  /** Behind the last event an event of others may stand, which tells the log as well: nobody reads up to there again. */
  async #reached(): Promise<Pick<Checkpoint, "position" | "eventId">> {
    if (this.position <= this.#last.position) return this.#last;
    const eventId = await this.#deps.eventStore.idAt(this.position);
    return eventId === undefined ? this.#last : { position: this.position, eventId };
  }

  /** A step of counting again what withdrawals change; the last one commits it by `commit`. @throws what the stores throw */
  async recount(commit: () => Promise<void>): Promise<void> {
    if (!this.#recount) {
      if (!this.isPending) return;
      // From here on every event that is taken is one that it has to be told of.
      if (this.#isUncommitted) await commit();
      this.#recount = this.#begin();
    }
    const { recount, steps } = this.#recount;
    if (!(await steps.next()).done) return;
    if (this.#isUncommitted) await commit();
    await this.#correct(recount);
    this.#pending = this.#pending.filter((range) => !recount.pending.includes(range));
    this.#recount = undefined;
    this.#isUncommitted = true;
    await commit();
  }

  #begin() {
    const { eventStore, readStore } = this.#deps;
    const collections = {
      accountDays: collectionName(accountDays.collection.name, this.#build),
      linkDays: collectionName(linkDays.collection.name, this.#build),
      linkClicks: collectionName(linkClicks.collection.name, this.#build),
    };
    const deps = { eventStore, readStore, collections, rules: this.#build.rules };
    const recount = new Recount(deps, [...this.#pending], this.position);
    return { recount, steps: recount.steps() };
  }

  async #correct(recount: Recount): Promise<void> {
    const corrections = recount.corrections();
    for (const [name, changed] of [
      [linkDays.name, corrections.linkDays],
      [linkClicks.name, corrections.linkClicks],
    ] as const) {
      const documents = this.#of(name);
      const stored = await documents.stored(changed.map(({ _id }) => _id));
      for (const document of changed)
        documents.replace(behind(document, stored.get(document._id)?._position ?? ""));
    }
    const days = this.#of(accountDays.name);
    for (const day of (await days.stored(corrections.accountDays)).values()) {
      const corrected = await corrections.correctedAccountDay(day as AccountDayDocument, this.position);
      days.replace(behind(corrected, day._position));
    }
  }

  #of(projection: string): Documents {
    const documents = this.#documents.find((documents) => documents.projection.name === projection);
    if (!documents) throw new Error(`no projection ${projection} is folded`);
    return documents;
  }

  #takeEvent(recorded: StoredEvent): void {
    const { rules } = this.#build;
    const event = rules === undefined ? recorded : reclassified(recorded, rules);
    if (this.#isWithdrawal(event.type)) {
      const link = event.stream.slice(PREFIX.withdrawals.length);
      this.#pending.push({ link, position: event.position });
    }
    this.#recount?.recount.add(event);
    for (const documents of this.#byType.get(event.type) ?? [])
      try {
        documents.take(event);
      } catch (error) {
        this.#note(setAsideEvent(event, error));
      }
  }

  #isWithdrawal(type: string): boolean {
    return WITHDRAWALS.has(type) && this.#byType.has("LinkClicked");
  }

  #note(event: SetAsideEvent): void {
    if (this.#notes.add(event)) this.#noted.push(event);
  }
}

/**
 * A corrected document replaces the stored one, which may contain the same last event: its position is then between that of
 * the event and the next one, as `+` sorts before every digit and behind the end of a text.
 */
function behind<D extends Document>(document: D, stored: Position): D {
  return document._position > stored ? document : { ...document, _position: `${stored}+` };
}
