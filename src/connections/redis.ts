// The connection to Redis that its adapters share: it fails fast while Redis is away, and comes back by itself.
import { Redis, type RedisOptions } from "ioredis";
import { OutageBreaker } from "../runtime/outage-breaker.ts";
import { CoordinationUnavailable } from "./errors.ts";

export type RedisDeps = {
  log: (message: string) => void;
  /** Before every key; default `linkledger:`. */
  prefix?: string;
};

/** Keys first, then arguments; the answer is the script's. @throws CoordinationUnavailable */
export type RedisScript = (...keysAndArguments: (string | number)[]) => Promise<unknown>;

const COMMAND_TIMEOUT_MS = 500;
/** While Redis hangs, one caller a second finds out. */
const OUTAGE_PAUSE_MS = 1_000;
/** How long the start waits for a Redis that may be away. */
const FIRST_CONNECTION_MS = 2_000;

const OPTIONS = {
  connectTimeout: 2_000,
  keepAlive: 5_000,
  // A connection that has swallowed a command is given up; a hung server would hold it for ever.
  socketTimeout: 2_000,
  // For ever: 50 ms, 100 ms, ... 1 s.
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 1_000),
  // After a failover the old primary is a replica.
  reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
} satisfies RedisOptions;

/** Nothing waits for a connection, and nothing is sent twice. */
const FAIL_FAST = {
  ...OPTIONS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
} satisfies RedisOptions;

/** Waits up to 2 s for the connection; without one it goes on trying in the background. */
export async function openRedis(url: string, deps: RedisDeps): Promise<RedisConnection> {
  const connection = new RedisConnection(url, deps);
  await connection.ready(FIRST_CONNECTION_MS);
  return connection;
}

export class RedisConnection {
  readonly #deps: RedisDeps;
  readonly #client: Redis;
  readonly #breaker = new OutageBreaker({ clock: () => performance.now(), openMs: OUTAGE_PAUSE_MS });

  constructor(url: string, deps: RedisDeps) {
    this.#deps = deps;
    this.#client = new Redis(url, FAIL_FAST);
    logOutages(this.#client, deps.log);
    // Who asks for nothing would otherwise say "away" until somebody does.
    this.#client.on("ready", () => this.#breaker.succeeded());
  }

  /** Whether Redis can't be asked just now, as far as known. */
  get unavailable(): boolean {
    return this.#client.status !== "ready" || this.#breaker.open;
  }

  key(name: string): string {
    return `${this.#deps.prefix ?? "linkledger:"}${name}`;
  }

  /** @throws CoordinationUnavailable, at once while Redis is away */
  async run<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    if (!this.#breaker.admits()) throw new CoordinationUnavailable("Redis is away");
    try {
      const answer = await command(this.#client);
      this.#breaker.succeeded();
      return answer;
    } catch (error) {
      // Without a connection commands fail at once anyway, and are let through as soon as there is one again.
      if (this.#client.status === "ready") this.#breaker.failed();
      throw new CoordinationUnavailable(`Redis is away: ${String(error)}`, { cause: error });
    }
  }

  /** A Lua script, sent once and then called by its hash. */
  script(name: string, numberOfKeys: number, lua: string): RedisScript {
    this.#client.defineCommand(name, { numberOfKeys, lua });
    return (...keysAndArguments) =>
      this.run(async (client) =>
        (client as unknown as Record<string, RedisScript>)[name]?.(...keysAndArguments),
      );
  }

  /** Resolves when connected, or after `withinMs`. */
  async ready(withinMs: number): Promise<void> {
    if (this.#client.status === "ready") return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#client.off("ready", done);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.#client.once("ready", done);
    });
  }

  async close(): Promise<void> {
    this.#client.disconnect();
  }
}

/** One line when it goes and one when it comes, however often it is tried in between. */
function logOutages(client: Redis, log: (message: string) => void): void {
  let unavailable = false;
  client.on("ready", () => {
    if (unavailable) log("Redis is back");
    unavailable = false;
  });
  client.on("error", (error) => {
    if (!unavailable) log(`Redis is away: ${error.message || String(error)}`);
    unavailable = true;
  });
}
