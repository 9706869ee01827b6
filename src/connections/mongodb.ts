// One client for all adapters on MongoDB: its time-outs, and which of its errors mean that the server is away.
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
import { StoreUnavailable } from "../event-store/port.ts";
import { OutageBreaker } from "../runtime/outage-breaker.ts";

const DEFAULT_DATABASE = "linkledger";
/** While the server is away one caller a second finds out, the others fail at once and use what they have. */
const OUTAGE_PAUSE_MS = 1_000;

/** Defaults only: what the connection string says wins, as a cluster may need other values. */
const TIMEOUTS: MongoClientOptions = {
  serverSelectionTimeoutMS: 3_000,
  connectTimeoutMS: 3_000,
  socketTimeoutMS: 15_000,
  waitQueueTimeoutMS: 3_000,
  heartbeatFrequencyMS: 2_000,
};

/** Server errors that pass: shutdown, election, no primary, an operation cut off by its time limit. */
const PASSING = new Set([6, 7, 50, 64, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);
/** Of the socket itself, which the driver lets through when a connection of its pool has just died. */
const SOCKET_ERRORS =
  /^E(PIPE|CONNRESET|CONNREFUSED|CONNABORTED|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)$/;
/** A unique key is taken. */
const DUPLICATE_KEY = 11_000;

export class MongodbConnection {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #breaker = new OutageBreaker({ clock: () => performance.now(), openMs: OUTAGE_PAUSE_MS });
  #connecting: Promise<unknown> | undefined;
  #hasConnected = false;
  #closed = false;

  /** Connects with the first call. The database is the path of the URL, `linkledger` when it has none. */
  constructor(url: string) {
    const stated = new URLSearchParams(url.split("?")[1] ?? "");
    const names = new Set([...stated.keys()].map((name) => name.toLowerCase()));
    const unstated = Object.entries(TIMEOUTS).filter(([name]) => !names.has(name.toLowerCase()));
    this.#client = new MongoClient(url, {
      ...Object.fromEntries(unstated),
      // A checkpoint that outlives the documents before it in a failover would lose events.
      ...(names.has("w") ? {} : { writeConcern: { w: "majority" } }),
      ignoreUndefined: true,
      appName: "linkledger",
    });
    this.#db = this.#client.db(databaseName(url));
  }

  /** Whether the last call found the server away. */
  get unavailable(): boolean {
    return this.#breaker.open;
  }

  /**
   * Runs one operation.
   * @throws StoreUnavailable when the server can't be reached or asked just now; other errors as they are
   */
  async run<T>(operation: (db: Db) => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreUnavailable("The connection to MongoDB is closed");
    if (!this.#breaker.admits()) throw new StoreUnavailable("MongoDB is away");
    try {
      if (!this.#hasConnected) await this.#connect();
      const answer = await operation(this.#db);
      this.#breaker.succeeded();
      return answer;
    } catch (error) {
      if (!isOutage(error)) {
        this.#breaker.succeeded();
        throw error;
      }
      this.#breaker.failed();
      throw new StoreUnavailable(`MongoDB is away: ${error.message}`, { cause: error });
    }
  }

  /** Left to itself the driver never recovers from a first connection that failed. */
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

/** A write that lost against a document with the same `_id`. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

function isOutage(error: unknown): error is Error {
  if (!(error instanceof MongoError)) {
    return error instanceof Error && "code" in error && SOCKET_ERRORS.test(String(error.code));
  }
  // The driver wraps a lost connection in an error that names no failed write and no code.
  if (error instanceof MongoBulkWriteError && error.code === undefined) return noWriteErrors(error);
  if (error instanceof MongoServerError) return PASSING.has(Number(error.code));
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

/** Everything between the hosts and the query: `mongodb://a,b/NAME?...`. */
function databaseName(url: string): string {
  const path = url.split("?")[0]?.replace(/^mongodb(\+srv)?:\/\/[^/]*/, "") ?? "";
  return decodeURIComponent(path.slice(1)) || DEFAULT_DATABASE;
}
