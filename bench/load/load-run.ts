// One run of the load generator: keeps its connections busy, or sends at a rate, until its time is over and everything is
// answered.
import { createHistogram } from "node:perf_hooks";
import { requestsOf } from "../traffic/requests.ts";
import { type Answer, Connection } from "./connection.ts";
import type { LoadOrder, LoadResult } from "./load.ts";

const RECONNECT_AFTER_MS = 10;

/** A connection and when its request in flight was due; undefined while it is idle. */
type Client = { connection: Connection; dueAt: number | undefined };

export class LoadRun {
  /** Of created links, when the order asks for them. */
  readonly slugs: string[] = [];
  readonly #order: LoadOrder;
  readonly #next: () => string;
  readonly #micros = createHistogram();
  readonly #counts = { sent: 0, answered: 0, other: 0, errors: 0 };
  readonly #clients = new Set<Client>();
  readonly #idle: Client[] = [];
  readonly #startedAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #drained = Promise.withResolvers<void>();
  #lastAt: number;
  #ended = false;

  constructor(order: LoadOrder) {
    this.#order = order;
    this.#next = requestsOf(order.traffic, order.seed);
    this.#startedAt = performance.now();
    this.#lastAt = this.#startedAt;
    for (let n = 0; n < order.connections; n++) this.#connect();
    this.#timer = setInterval(() => this.#sendDue(), 1);
  }

  /** Resolves when everything that was sent is answered. */
  async finished(): Promise<LoadResult> {
    await this.#drained.promise;
    clearInterval(this.#timer);
    for (const { connection } of this.#clients) connection.close();
    const { answered, other, errors } = this.#counts;
    const seconds = (this.#lastAt - this.#startedAt) / 1000;
    const quantile = (percent: number) => this.#micros.percentile(percent) / 1000;
    const rate = (answered + other) / seconds;
    return { answered, other, errors, seconds, rate, p50: quantile(50), p99: quantile(99) };
  }

  #connect(): void {
    const url = new URL(this.#order.url);
    const connection = new Connection(
      url,
      (answer) => this.#onAnswer(client, answer),
      () => this.#onGone(client),
    );
    const client: Client = { connection, dueAt: undefined };
    this.#clients.add(client);
    this.#idle.push(client);
    this.#sendDue();
  }

  /** With a rate, a request that finds no idle connection is sent late, and its latency counts from when it was due. */
  #sendDue(): void {
    const { rate, seconds, amount = Number.POSITIVE_INFINITY } = this.#order;
    const now = performance.now();
    if (this.#counts.sent >= amount || now - this.#startedAt >= seconds * 1000) this.#ended = true;
    const due = rate === undefined ? Number.POSITIVE_INFINITY : ((now - this.#startedAt) / 1000) * rate;
    while (!this.#ended && this.#idle.length > 0 && this.#counts.sent < Math.min(due, amount)) {
      const client = this.#idle.shift() as Client;
      client.dueAt = rate === undefined ? now : this.#startedAt + (this.#counts.sent / rate) * 1000;
      this.#counts.sent += 1;
      client.connection.send(this.#next());
    }
    if (this.#ended && this.#idle.length === this.#clients.size) this.#drained.resolve();
  }

  #onAnswer(client: Client, { status, body }: Answer): void {
    this.#lastAt = performance.now();
    this.#micros.record(Math.max(1, Math.round((this.#lastAt - (client.dueAt ?? this.#lastAt)) * 1000)));
    if (status === this.#order.expect) this.#counts.answered += 1;
    else this.#counts.other += 1;
    if (this.#order.keepSlugs)
      for (const [, slug = ""] of body.matchAll(/"slug":"([^"]+)"/g)) this.slugs.push(slug);
    client.dueAt = undefined;
    this.#idle.push(client);
    this.#sendDue();
  }

  #onGone(client: Client): void {
    if (client.dueAt !== undefined) this.#counts.errors += 1;
    this.#clients.delete(client);
    const index = this.#idle.indexOf(client);
    if (index >= 0) this.#idle.splice(index, 1);
    if (!this.#ended) setTimeout(() => this.#connect(), RECONNECT_AFTER_MS);
    else this.#sendDue();
  }
}
