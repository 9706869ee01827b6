// Passes connections on to a MongoDB, counts the commands that go through, and refuses those that a test names.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { BSON } from "mongodb";

export type MongodbTap = {
  /** The connection string with this address in place of the server's. */
  url: string;
  /** How many since the last call, by name and collection, such as `find leases`. */
  take(): Map<string, number>;
  /** Commands whose name and collection match are answered as by a server that denies them. */
  refuse(command: RegExp | undefined): void;
  /** The next command that matches, and what its connection sends behind it, wait until `release`. */
  hold(command: RegExp): { isHeld: Promise<void>; release(): void };
  close(): Promise<void>;
};

const OP_MSG = 2013;
const HEADER = 16;
/** Flags, and the kind of the first section. */
const DOCUMENT_AT = HEADER + 5;
const UNAUTHORIZED = 13;
/** What the driver asks on connections of its own, to watch its servers. */
const OF_THE_DRIVER = /^(hello|ismaster|endSessions)/i;

/** `onCommand`: told of each of ours that goes through. */
export async function tapMongodb(
  url: string,
  onCommand: (command: Record<string, unknown>) => void = () => undefined,
): Promise<MongodbTap> {
  const { port, hostname } = new URL(url);
  let counts = new Map<string, number>();
  let refused: RegExp | undefined;
  let holding: { command: RegExp; held: PromiseWithResolvers<void>; released: Promise<void> } | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port || 27_017), hostname);
    upstream.pipe(client);
    let isOurs = false;
    let pending = Buffer.alloc(0);
    let sent: Promise<unknown> | undefined;
    client.on("data", (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      for (let message = whole(pending); message; message = whole(pending)) {
        pending = pending.subarray(message.length);
        const name = commandIn(message);
        isOurs ||= name !== undefined && !OF_THE_DRIVER.test(name);
        if (name !== undefined && isOurs) onCommand(documentIn(message));
        if (name !== undefined && isOurs) counts.set(name, (counts.get(name) ?? 0) + 1);
        if (name !== undefined && refused?.test(name)) client.write(refusalOf(message));
        else if (name !== undefined && holding?.command.test(name)) {
          const { held, released } = holding;
          holding = undefined;
          sent = released;
          held.resolve();
          void sent.then(() => upstream.write(message));
        } else if (sent) void sent.then(() => upstream.write(message));
        else upstream.write(message);
      }
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => void [client.destroy(), upstream.destroy()]);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const tapped = new URL(url);
  tapped.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: tapped.href,
    take() {
      const taken = counts;
      counts = new Map();
      return taken;
    },
    refuse(command) {
      refused = command;
    },
    hold(command) {
      const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      holding = { command, held, released: released.promise };
      return { isHeld: held.promise, release: released.resolve };
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The first message, once all of it is there. */
function whole(bytes: Buffer): Buffer | undefined {
  const length = bytes.length < HEADER ? Number.POSITIVE_INFINITY : bytes.readInt32LE(0);
  return bytes.length < length ? undefined : Buffer.from(bytes.subarray(0, length));
}

function commandIn(message: Buffer): string | undefined {
  if (message.readInt32LE(12) !== OP_MSG) return undefined;
  const [[name, value] = ["", ""]] = Object.entries(documentIn(message));
  return typeof value === "string" ? `${name} ${value}` : name;
}

/** With the lists that the driver sends behind it. */
function documentIn(message: Buffer): Record<string, unknown> {
  const sized = (at: number) => message.subarray(at, at + message.readInt32LE(at));
  const body = sized(DOCUMENT_AT);
  const document = BSON.deserialize(body) as Record<string, unknown>;
  for (let at = DOCUMENT_AT + body.length; message[at] === 1; ) {
    const section = sized(at + 1);
    const named = section.indexOf(0, 4);
    const list: unknown[] = [];
    for (let from = named + 1; from < section.length; from += section.readInt32LE(from))
      list.push(BSON.deserialize(section.subarray(from, from + section.readInt32LE(from))));
    document[section.toString("utf8", 4, named)] = list;
    at += 1 + section.length;
  }
  return document;
}

function refusalOf(message: Buffer): Buffer {
  const document = BSON.serialize({ ok: 0, code: UNAUTHORIZED, errmsg: "not authorized" });
  const head = Buffer.alloc(DOCUMENT_AT);
  const fields = [DOCUMENT_AT + document.length, 1, message.readInt32LE(4), OP_MSG, 0];
  for (const [n, field] of fields.entries()) head.writeInt32LE(field, n * 4);
  return Buffer.concat([head, document]);
}
