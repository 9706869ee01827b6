// The servers of a connection string, each behind a client of its own: calls go to the next one when one fails.
import { type Credentials, EventStoreDBClient } from "@eventstore/db-client";

const FORM = /^(?:esdb|kurrentdb)(?:\+discover)?:\/\/(?:([^:/?]+):(.*)@)?([^@/?]+)\/?(?:\?(.*))?$/;

/** The client prints the whole string, password included, for one that it doesn't know or doesn't heed. */
const OPTIONS =
  "tls tlscafile usercertfile userkeyfile keepaliveinterval keepalivetimeout connectionname".split(" ");

/**
 * The client's own search for a leader is left aside: it heeds no call's deadline, and when it fails beside other calls
 * it leaves a rejected promise that nobody handles, which ends the process. Instead every call requires the leader: a
 * server that doesn't lead names it, and the client goes there by itself.
 */
export class Servers {
  /** Given to each append, which keeps it off the call that the client's appends share; no server without TLS reads them. */
  readonly credentials: Credentials;
  /** Undefined where the connection string names none. */
  readonly user: string | undefined;
  readonly #clients: readonly EventStoreDBClient[];
  #current = 0;

  /** @throws Error when it can't be read; never repeats it, for it may hold a password */
  constructor(connectionString: string) {
    try {
      const [, username, password = "", hosts, query = ""] = FORM.exec(connectionString.trim()) ?? [];
      const [user, secret] = [username ?? "none", password].map(decodeURIComponent) as [string, string];
      this.credentials = { username: user, password: secret };
      this.user = username && user;
      const login = username && `${encodeURIComponent(user)}:${encodeURIComponent(secret)}@`;
      const options = query.split("&").filter(isKnown).join("&");
      this.#clients = (hosts ?? "").split(",").map((host) => {
        const single = `esdb://${login ?? ""}${host}${options && `?${options}`}`;
        return EventStoreDBClient.connectionString(single);
      });
    } catch (error) {
      throw unreadable(error);
    }
  }

  get current(): EventStoreDBClient {
    return this.#clients[this.#current] as EventStoreDBClient;
  }

  /** After a call failed: later ones go to the next server, unless they do so already. */
  leave(client: EventStoreDBClient): void {
    if (this.current === client) this.#current = (this.#current + 1) % this.#clients.length;
  }

  /** Ends calls in flight. Idle connections keep no process and close by themselves. */
  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.dispose()));
  }
}

/** What is not `name=value` stays, for the client to refuse. */
function isKnown(option: string): boolean {
  const [name = "", value] = option.split("=");
  if (value === undefined) return option !== "";
  return OPTIONS.includes(name.toLowerCase().replace(/[\s_-]/g, ""));
}

/** Of the client's messages only those about files are kept. */
function unreadable(error: unknown): Error {
  const isFile = error instanceof Error && /certificate|userCertFile/.test(error.message);
  const reason = isFile ? `: ${error.message}` : "";
  return new Error(`Not a connection string such as esdb://host:2113?tls=false${reason}`);
}
