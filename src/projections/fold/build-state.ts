// A build while it is folded: its documents and checkpoint in memory, and the one commit that writes both.
import type { LinkClicked, StoredEvent } from "../../events/catalogue.ts";
import { reclassified } from "../../events/classification/reclassify.ts";
import { PREFIX } from "../../events/streams.ts";
import { systemClock } from "../../runtime/pause.ts";
import {
  type SetAsideEvent,
  SetAsideNotes,
  setAsideCollection,
  setAsideEvent,
} from "../../stores/coordination/set-aside.ts";
import { type LogPage, type Position, START } from "../../stores/event-store/port.ts";
import type { AwaitedEvent, Checkpoint, CollectionWrite } from "../../stores/read-store/port.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Build, type BuildStore, checkpointName, storeOfBuild } from "./build.ts";
import { ClickFold } from "./clicks/click-fold.ts";
import { ClickWork } from "./clicks/click-work.ts";
import type { PendingWithdrawal } from "./clicks/mark-withdrawn.ts";
import { Documents } from "./documents.ts";
import { parseBatch } from "./event-batch.ts";
import type { FoldDeps } from "./fold-deps.ts";

const WITHDRAWALS: ReadonlySet<string> = new Set(["ClicksWithdrawn", "ClicksRestored"]);
/** Of the events that a commit sets aside. */
const MOST_LOGGED = 10;
/** In documents: 15 KB, however few rows it has. */
const A_TABLE = 4;

/** What of a build is not in its documents: withdrawals, whose rows are being marked. */
type More = { pending: PendingWithdrawal[] };

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
  readonly #store: BuildStore;
  /** As logs name the build. */
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
  #commitForWork: () => Promise<void> = async () => undefined;
  readonly #clicks: { fold: ClickFold; work: ClickWork } | undefined;

  constructor(deps: FoldDeps, group: ProjectionGroup, build: Build, checkpoint: Checkpoint) {
    this.#deps = deps;
    this.#group = group;
    this.#build = build;
    this.#store = storeOfBuild(deps.readStore, group, build);
    this.#name = checkpointName(group, build);
    this.#committed = checkpoint;
    this.position = checkpoint.position;
    this.#last = checkpoint;
    this.#pending = (checkpoint.more as More | undefined)?.pending ?? [];
    this.#documents = group.projections.map((projection) => new Documents(projection, this.#store));
    for (const documents of this.#documents)
      for (const type of documents.projection.handles)
        this.#byType.set(type, [...(this.#byType.get(type) ?? []), documents]);
    this.#clicks = group.hasClickTables ? this.#openClicks() : undefined;
  }

  async open(): Promise<void> {
    await this.#notes.restart(this.#store, setAsideCollection(this.#group.name), this.#committed);
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

  /** Documents that the next commit writes; a table takes the memory of several until then. */
  get changing(): number {
    const tables = this.#clicks?.fold.changing ?? 0;
    return this.#documents.reduce((sum, { changing }) => sum + changing, A_TABLE * tables);
  }

  /** Milliseconds until there is work between commits: 0 while there is. */
  get workMs(): number {
    return this.#clicks?.work.waitMs(this.#pending) ?? Number.POSITIVE_INFINITY;
  }

  /** Whether nothing is left to be done at the end of the log. */
  get isWorkDone(): boolean {
    return this.#clicks?.work.isDone(this.#pending) ?? true;
  }

  take({ events, next }: LogPage): void {
    const newer = events.filter(({ position }) => position > this.position);
    const batch = parseBatch(newer, (type) => this.#byType.has(type) || this.#isOfClicks(type));
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
    const { log } = this.#deps;
    const folded: CollectionWrite[] = [];
    for (const documents of this.#documents)
      folded.push({
        collection: documents.projection.collection.name,
        documents: await documents.fold((event, error) => this.#note(setAsideEvent(event, error))),
      });
    // The last event: no document is of a position after the checkpoint's.
    const clicks = await this.#clicks?.fold.commit(this.#last.position, this.#clicks.work.overBefore);
    folded.push(...(clicks?.documents ?? []));
    const notes = { collection: setAsideCollection(this.#group.name), documents: this.#notes.drain() };
    const { position, eventId } = await this.#reached();
    const to = this.#checkpointAt(position, eventId);
    // The notes first: a document is never stored before the note of what it lacks.
    await this.#write([notes, ...folded], to);
    if (clicks) {
      clicks.onWritten();
      this.#clicks?.work.changed(clicks.over);
    }
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

  /** Some milliseconds of what is done between commits. `isLast`: at the end of a log that is not followed. */
  async work(isLast: boolean, commit: () => Promise<void>): Promise<void> {
    this.#commitForWork = commit;
    await this.#clicks?.work.step(this.#pending, isLast);
  }

  #openClicks() {
    const { eventStore, now = systemClock.now, clock = () => new Date() } = this.#deps;
    const readStore = this.#store;
    const fold = new ClickFold({ readStore, isFresh: this.position === START });
    const write = async (documents: readonly CollectionWrite[]) => {
      if (documents.some(({ documents, removed }) => documents.length > 0 || removed))
        await this.#write(documents, this.#committed);
    };
    const work = new ClickWork({
      ...{ eventStore, readStore, clock, now, fold, write },
      committed: () => this.#committed.position,
      commit: async () => {
        if (this.#isUncommitted) await this.#commitForWork();
      },
      settle: async (pending, documents) => {
        this.#pending = this.#pending.filter((settled) => !pending.includes(settled));
        const { position, eventId } = this.#committed;
        const to = this.#checkpointAt(position, eventId);
        await this.#write(documents, to);
        this.#committed = to;
      },
    });
    return { fold, work };
  }

  async #write(documents: readonly CollectionWrite[], to: Checkpoint): Promise<void> {
    const checkpoint = { name: this.#group.name, from: this.#committed, to };
    await this.#store.write({ documents, checkpoint });
  }

  #checkpointAt(position: Position, eventId: string): Checkpoint {
    return {
      ...{ position, eventId },
      ...this.#notes.counted(),
      ...(this.waitsFor && { waitsFor: this.waitsFor }),
      ...(this.#pending.length > 0 && { more: { pending: this.#pending } satisfies More }),
    };
  }

  #takeEvent(recorded: StoredEvent): void {
    if (this.#clicks && WITHDRAWALS.has(recorded.type)) {
      const link = recorded.stream.slice(PREFIX.withdrawals.length);
      this.#pending.push({ link, position: recorded.position });
    }
    try {
      if (recorded.type === "LinkClicked") this.#takeClick(recorded);
      for (const documents of this.#byType.get(recorded.type) ?? []) documents.take(recorded);
    } catch (error) {
      this.#note(setAsideEvent(recorded, error));
    }
  }

  #takeClick(recorded: StoredEvent & LinkClicked): void {
    if (!this.#clicks) return;
    const { rules } = this.#build;
    const click = rules === undefined ? recorded.data : reclassified(recorded, rules).data;
    this.#clicks.fold.take(click, recorded, recorded.data.kind);
  }

  #isOfClicks(type: string): boolean {
    return this.#clicks !== undefined && (type === "LinkClicked" || WITHDRAWALS.has(type));
  }

  #note(event: SetAsideEvent): void {
    if (this.#notes.add(event)) this.#noted.push(event);
  }
}
