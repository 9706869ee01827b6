// Turns batches of hits into batches of events and puts them into the outbox with their revisions in the writer's own streams.
import { countOf } from "../../event-store/event-columns.ts";
import type { EventColumns } from "../../event-store/port.ts";
import { clickStream } from "../../events/streams.ts";
import { errorFields } from "../../runtime/error-fields.ts";
import { messageOf } from "../../runtime/errors.ts";
import type { ClickOutbox } from "../spool/click-outbox.ts";
import { ClickColumns } from "./click-columns.ts";
import type { Enrich } from "./click-event.ts";
import { type HitBatch, hitsOf, type RawHit, unpackTarget } from "./hit.ts";
import type { RecorderReport } from "./recorder-report.ts";
import type { VisitorOf } from "./visitors/visitor.ts";

export type ClickWriterDeps = {
  outbox: Pick<ClickOutbox, "put">;
  enrich: Enrich;
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
  readonly #revisions: Map<string, number>;
  readonly #waiting: HitBatch[] = [];
  #running = false;
  /** Resolves when everything put so far is committed and reported. */
  #reported: Promise<void> = Promise.resolve();

  constructor(deps: ClickWriterDeps) {
    this.#deps = deps;
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
      const appends = [...byStream].map(([stream, clicks]) => this.#put(stream, clicks.columns()));
      this.#reported = this.#report(batch.batch, appends, this.#reported);
    }
    this.#running = false;
  }

  async #put(stream: string, events: EventColumns): Promise<Append> {
    const after = this.#revisions.get(stream) ?? -1;
    const revision = after + countOf(events);
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
  async #clicksByStream(batch: HitBatch): Promise<Map<string, ClickColumns>> {
    const byStream = new Map<string, ClickColumns>();
    let day = Number.NaN;
    let visitorOf: VisitorOf = () => "";
    let clicks = new ClickColumns(this.#deps.writer);
    for (const { number, hit } of hitsOf(batch)) {
      const hitDay = Math.floor(hit.at / 86_400_000);
      if (hitDay !== day) {
        day = hitDay;
        visitorOf = await this.#deps.visitors(hit.at);
        const stream = clickStream(this.#deps.writer, new Date(hit.at));
        clicks = byStream.get(stream) ?? new ClickColumns(this.#deps.writer);
        byStream.set(stream, clicks);
      }
      this.#addTo(clicks, number, hit, visitorOf);
    }
    for (const [stream, { count }] of byStream) if (count === 0) byStream.delete(stream);
    return byStream;
  }

  #addTo(clicks: ClickColumns, number: number, hit: RawHit, visitorOf: VisitorOf): void {
    try {
      const enriched = this.#deps.enrich(hit);
      const { address } = hit;
      const { userAgent } = enriched.agent;
      const visitor = visitorOf({ address, userAgent, of: enriched.link.link });
      const accountVisitor = visitorOf({ address, userAgent, of: enriched.owner.accountId });
      clicks.add(hit.at, number, enriched, { visitor, accountVisitor });
    } catch (error) {
      // Retrying cannot succeed, so the hit is dropped and counted as lost instead of blocking the batch.
      const message = `Hit on ${unpackTarget(hit.link).key}: ${messageOf(error)}`;
      this.#deps.report({ type: "problem", message, err: errorFields(error), lost: 1 });
    }
  }
}
