// The Redis connection that all adapters share: fails fast while Redis is unavailable and reconnects by itself.
import { Redis, type RedisOptions } from "ioredis";
import { messageOf } from "../../runtime/errors.ts";
import { OutageBreaker } from "../../runtime/outage-breaker.ts";
import { inTime } from "../../runtime/pause.ts";
import { CoordinationUnavailable } from "./errors.ts";
import { redisAddress } from "./sentinel-url.ts";

export type RedisDeps = {
  log: (message: string) => void;
  /** Of every key; rejects while it is not known. */
  prefix: () => Promise<string>;
};

/** Takes the keys, then the arguments; returns the script's result. @throws CoordinationUnavailable */
export type RedisScript = (...keysAndArguments: (string | number)[]) => Promise<unknown>;

const COMMAND_TIMEOUT_MS = 500;
/** How long the start waits for the first connection. */
const FIRST_CONNECTION_MS = 2_000;

const OPTIONS = {
  connectTimeout: 2_000,
  keepAlive: 5_000,
  // Closes a connection on which a command got no answer; with a hung server it would stay open for ever.
  socketTimeout: 2_000,
  // Reconnects without limit, after 50 ms, 100 ms, ... 1 s.
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 1_000),
  // Reconnects when the old primary has become a read-only replica after a failover; before Redis 7 scripts fail with more
  // words before this one.
  reconnectOnError: (error: Error) => error.message.includes("READONLY"),
} satisfies RedisOptions;

/** No offline queue and no resending: a command fails when there is no connection. */
const FAIL_FAST = {
  ...OPTIONS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  // A sentinel that hangs would else be waited for, while others know the primary.
  sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
} satisfies RedisOptions;

/** Waits up to 2 s for the connection, then returns while it is still being tried in the background. */
export async function openRedis(url: string, deps: RedisDeps): Promise<RedisConnection> {
  const connection = new RedisConnection(url, deps);
  await connection.ready(FIRST_CONNECTION_MS);
  return connection;
}

export class RedisConnection {
  readonly #prefix: () => Promise<string>;
  readonly #client: Redis;
  readonly #breaker = new OutageBreaker();

  constructor(url: string, { log, prefix }: RedisDeps) {
    this.#prefix = prefix;
    this.#client = clientOf(url);
    logOutages(this.#client, log);
    // Without this a process that sends no commands would report Redis as unavailable after it is back.
    this.#client.on("ready", () => this.#breaker.succeeded());
  }

  /** Whether Redis is unavailable, by connection status and the last command. */
  get unavailable(): boolean {
    return this.#client.status !== "ready" || this.#breaker.open;
  }

  /** @throws CoordinationUnavailable while the prefix is not known */
  async key(name: string): Promise<string> {
    try {
      return `${await this.#prefix()}${name}`;
    } catch (cause) {
      throw new CoordinationUnavailable(`Keys have no names yet: ${messageOf(cause)}`, { cause });
    }
  }

  /** @throws CoordinationUnavailable, without a delay while Redis is known to be unavailable */
  async run<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    if (!this.#breaker.admits()) throw new CoordinationUnavailable("Redis is unavailable");
    try {
      const answer = await command(this.#client);
      this.#breaker.succeeded();
      return answer;
    } catch (error) {
      // Without a connection commands fail fast by themselves, so the breaker is only for a server that hangs.
      if (this.#client.status === "ready") this.#breaker.failed();
      throw new CoordinationUnavailable(`Redis is unavailable: ${String(error)}`, { cause: error });
    }
  }

  /** Defines a Lua script, which is called by its hash (EVALSHA). */
  script(name: string, numberOfKeys: number, lua: string): RedisScript {
    this.#client.defineCommand(name, { numberOfKeys, lua });
    return (...keysAndArguments) =>
      this.run(async (client) =>
        (client as unknown as Record<string, RedisScript>)[name]?.(...keysAndArguments),
      );
  }

  /** Resolves when connected or after `withinMs`. */
  async ready(withinMs: number): Promise<void> {
    if (this.#client.status === "ready") return;
    await inTime(withinMs, new Promise((resolve) => this.#client.once("ready", resolve)));
  }

  async close(): Promise<void> {
    this.#client.disconnect();
  }
}

/** What `redisAddress` does not know was refused with the settings (config/formats.ts). */
function clientOf(url: string): Redis {
  const address = redisAddress(url) ?? url;
  return typeof address === "string"
    ? new Redis(address, FAIL_FAST)
    : new Redis({ ...FAIL_FAST, ...address });
}

/** Logs one line when the connection is lost and one when it is back, not one for each reconnection attempt. */
function logOutages(client: Redis, log: (message: string) => void): void {
  let unavailable = false;
  client.on("ready", () => {
    if (unavailable) log("Redis is back");
    unavailable = false;
  });
  client.on("error", (error) => {
    if (!unavailable) log(`Redis is unavailable: ${error.message || String(error)}`);
    unavailable = true;
  });
}
