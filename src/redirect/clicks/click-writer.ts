// Turns batches of hits into events and puts them into the outbox with their revisions in the writer's own streams.

import { newEvent } from "../../events/new-event.ts";
import { clickStream } from "../../events/streams.ts";
import { errorFields } from "../../runtime/error-fields.ts";
import { messageOf } from "../../runtime/errors.ts";
import { type NumberedId, numberedIds } from "../../runtime/time-ordered-id.ts";
import type { NewEvent } from "../../stores/event-store/port.ts";
import type { ClickOutbox } from "../spool/click-outbox.ts";
import type { ClickOf } from "./click-event.ts";
import { type HitBatch, hitsOf, type RawHit, unpackTarget } from "./hit.ts";
import type { RecorderReport } from "./recorder-report.ts";
import type { VisitorOf } from "./visitors/visitor.ts";

export type ClickWriterDeps = {
  outbox: Pick<ClickOutbox, "put">;
  clickOf: ClickOf;
  visitors: (at: number) => Promise<VisitorOf>;
  /** Lower-case hex, at least 16 digits, unique to this run of the process: the only writer of its streams. */
  writer: string;
  /** Last known revision of each stream, as an earlier thread of the same process reported it. */
  revisions: ReadonlyMap<string, number>;
  report: (report: RecorderReport) => void;
};

type Append = { seconds: number; reached: [string, number] };

export class ClickWriter {
  readonly #deps: ClickWriterDeps;
  readonly #idOf: NumberedId;
  readonly #revisions: Map<string, number>;
  readonly #waiting: HitBatch[] = [];
  #running = false;
  /** Resolves when everything put so far is committed and reported. */
  #reported: Promise<void> = Promise.resolve();

  constructor(deps: ClickWriterDeps) {
    this.#deps = deps;
    this.#idOf = numberedIds(deps.writer);
    this.#revisions = new Map(deps.revisions);
  }

  /** Batches must come in the order of their numbers. */
  push(batch: HitBatch): void {
    this.#waiting.push(batch);
    if (this.#running) return;
    this.#running = true;
    void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (let batch = this.#waiting.shift(); batch; batch = this.#waiting.shift()) {
      const byStream = await this.#clicksByStream(batch);
      const appends = [...byStream].map(([stream, clicks]) => this.#put(stream, clicks));
      this.#reported = this.#report(batch.batch, appends, this.#reported);
    }
    this.#running = false;
  }

  async #put(stream: string, events: readonly NewEvent[]): Promise<Append> {
    const after = this.#revisions.get(stream) ?? -1;
    const revision = after + events.length;
    this.#revisions.set(stream, revision);
    const started = performance.now();
    await this.#deps.outbox.put({ stream, after, events });
    return {
      seconds: (performance.now() - started) / 1000,
      reached: [stream, revision],
    };
  }

  /** Reports after `previous`, the report of the batch before, so that reports keep the order of the batches. */
  async #report(upTo: number, appends: Promise<Append>[], previous: Promise<void>): Promise<void> {
    const done = await Promise.all(appends);
    await previous;
    const reached = done.map((append) => append.reached);
    this.#deps.report({
      type: "committed",
      upTo,
      appendSeconds: done.map(({ seconds }) => seconds),
      reached,
    });
  }

  /** The stream follows from the hit's own time, so that a batch across midnight is split identically when resent. */
  async #clicksByStream(batch: HitBatch): Promise<Map<string, NewEvent[]>> {
    const byStream = new Map<string, NewEvent[]>();
    let day = Number.NaN;
    let visitorOf: VisitorOf = () => "";
    let clicks: NewEvent[] = [];
    for (const { number, hit } of hitsOf(batch)) {
      const hitDay = Math.floor(hit.at / 86_400_000);
      if (hitDay !== day) {
        day = hitDay;
        visitorOf = await this.#deps.visitors(hit.at);
        const stream = clickStream(this.#deps.writer, new Date(hit.at));
        clicks = byStream.get(stream) ?? [];
        byStream.set(stream, clicks);
      }
      const click = this.#clickOf(number, hit, visitorOf);
      if (click) clicks.push(click);
    }
    for (const [stream, { length }] of byStream) if (length === 0) byStream.delete(stream);
    return byStream;
  }

  #clickOf(number: number, hit: RawHit, visitorOf: VisitorOf): NewEvent | undefined {
    try {
      return newEvent(this.#deps.clickOf(hit, visitorOf), this.#idOf(hit.at, number));
    } catch (error) {
      // Retrying cannot succeed, so the hit is dropped and counted as lost instead of blocking the batch.
      const message = `Hit on ${unpackTarget(hit.link).key}: ${messageOf(error)}`;
      this.#deps.report({ type: "problem", message, err: errorFields(error), lost: 1 });
      return undefined;
    }
  }
}
