// The MongoDB client that all adapters share: time-outs, and which of its errors mean that the server is unavailable.
import {
  type Db,
  MongoBulkWriteError,
  MongoClient,
  type MongoClientOptions,
  MongoError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoSystemError,
  MongoUnexpectedServerResponseError,
} from "mongodb";
import { OutageBreaker } from "../../runtime/outage-breaker.ts";
import { StoreFailed, StoreUnavailable } from "./errors.ts";

const DEFAULT_DATABASE = "linkledger";

/** Defaults; the connection string takes precedence, because a cluster may need other values. */
const TIMEOUTS: MongoClientOptions = {
  serverSelectionTimeoutMS: 3_000,
  connectTimeoutMS: 3_000,
  socketTimeoutMS: 15_000,
  waitQueueTimeoutMS: 3_000,
  heartbeatFrequencyMS: 2_000,
};

/** Codes of transient server errors: shutdown, election, no primary (of a shard: 133), an operation past its time. */
const TRANSIENT = new Set([6, 7, 50, 64, 89, 91, 133, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);
/** Socket errors, which the driver passes on unwrapped when a pooled connection has just broken. */
const SOCKET_ERRORS =
  /^E(PIPE|CONNRESET|CONNREFUSED|CONNABORTED|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)$/;
/** Codes of servers that refuse the service until an operator acts: credentials, rights, a command that they don't know. */
const REFUSED = new Set([13, 18, 59, 115, 8_000]);
/** Server code of a unique key violation. */
const DUPLICATE_KEY = 11_000;

export class MongodbConnection {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #breaker = new OutageBreaker();
  #connecting: Promise<unknown> | undefined;
  #outage = "MongoDB is unavailable";
  #hasConnected = false;
  #closed = false;

  /** Connects at the first call. The database name is the path of the URL; default `linkledger`. */
  constructor(url: string) {
    const stated = new URLSearchParams(url.split("?")[1] ?? "");
    const names = new Set([...stated.keys()].map((name) => name.toLowerCase()));
    const unstated = Object.entries(TIMEOUTS).filter(([name]) => !names.has(name.toLowerCase()));
    this.#client = new MongoClient(url, {
      ...Object.fromEntries(unstated),
      // If a failover rolled back documents but not the later checkpoint, their events would be lost.
      ...(names.has("w") ? {} : { writeConcern: { w: "majority" } }),
      ignoreUndefined: true,
      appName: "linkledger",
    });
    this.#db = this.#client.db(databaseName(url));
  }

  /**
   * Runs one operation.
   * @throws StoreUnavailable when the server can't be reached or is temporarily unavailable; StoreFailed when it refuses
   * the service; other errors unchanged
   */
  async run<T>(operation: (db: Db) => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreUnavailable("The connection to MongoDB is closed");
    if (!this.#breaker.admits()) throw new StoreUnavailable(this.#outage);
    try {
      if (!this.#hasConnected) await this.#connect();
      const answer = await operation(this.#db);
      this.#breaker.succeeded();
      return answer;
    } catch (error) {
      if (isOutage(error)) {
        this.#breaker.failed();
        this.#outage = `MongoDB is unavailable: ${error.message}`;
        throw new StoreUnavailable(this.#outage, { cause: error });
      }
      this.#breaker.succeeded();
      if (!isRefusal(error)) throw error;
      throw new StoreFailed(`MongoDB refuses the service: ${error.message}`, { cause: error });
    }
  }

  /** Explicit, because after a failed first connection the driver does not connect again by itself. */
  async #connect(): Promise<void> {
    this.#connecting ??= this.#client.connect().finally(() => {
      this.#connecting = undefined;
    });
    await this.#connecting;
    this.#hasConnected = true;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#client.close();
  }
}

/** Whether a write failed because of an existing document with the same unique key, such as `_id`. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

function isRefusal(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && REFUSED.has(Number(error.code));
}

function isOutage(error: unknown): error is Error {
  if (!(error instanceof MongoError)) {
    return error instanceof Error && "code" in error && SOCKET_ERRORS.test(String(error.code));
  }
  // The driver reports a lost connection as a bulk write error without write errors and without a code.
  if (error instanceof MongoBulkWriteError && error.code === undefined) return noWriteErrors(error);
  if (error instanceof MongoServerError) return TRANSIENT.has(Number(error.code));
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoSystemError ||
    error instanceof MongoOperationTimeoutError ||
    error instanceof MongoUnexpectedServerResponseError ||
    /^Mongo(NotConnected|TopologyClosed|PoolClosed|PoolCleared|WaitQueueTimeout|ClientClosed|ServerClosed)Error$/.test(
      error.name,
    ) ||
    error.hasErrorLabel("RetryableWriteError")
  );
}

function noWriteErrors({ writeErrors }: MongoBulkWriteError): boolean {
  return Array.isArray(writeErrors) && writeErrors.length === 0;
}

/** The path of the URL, which may list several hosts: `mongodb://a,b/NAME?...`. */
function databaseName(url: string): string {
  const path = url.split("?")[0]?.replace(/^mongodb(\+srv)?:\/\/[^/]*/, "") ?? "";
  return decodeURIComponent(path.slice(1)) || DEFAULT_DATABASE;
}
