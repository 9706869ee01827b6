// A command beside a running service: it runs there, and the files that it names, its terminal and its signals are here.
import { existsSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { VERSION } from "../../config/version.ts";
import { Failure } from "../../runtime/errors.ts";
import { pause } from "../../runtime/pause.ts";
import { byteChannel } from "../../runtime/threads/byte-channel.ts";
import { Calls } from "../../runtime/threads/calls.ts";
import { remoteMethods, remoteStreams } from "../../runtime/threads/remote.ts";
import { GREETING } from "../../service/roles/operator.ts";
import { isFolderLocked, socketOf } from "../../service/stores/data-folder.ts";
import { ownFiles } from "../files.ts";
import type { Terminal } from "../output.ts";
import { EXIT_INTERRUPTED, SECOND_AFTER_MS, SIGNALS, type Signal } from "../work.ts";

/** What the service knows of the terminal at which a command was given. */
export type Screen = { columns: number | undefined; isTTY: Record<"stdout" | "stderr", boolean> };

/** What the service calls here. `write` of files: the parts are taken by Asked.parts. */
export type Asking = {
  print(to: "stdout" | "stderr", bytes: Uint8Array): Promise<void>;
  size(file: string): Promise<number>;
  read(file: string, signal: AbortSignal): AsyncGenerator<Uint8Array>;
  write(file: string): Promise<number>;
};

/** What is called there. `signal`: whether the command ends by it as it will. */
export type Asked = {
  run(args: readonly string[], screen: Screen): Promise<number>;
  signal(name: Signal): Promise<boolean>;
  parts(file: string, signal: AbortSignal): AsyncGenerator<Uint8Array>;
};

const TRY_EVERY_MS = 100;
/** A service locks its folder as the first thing of its start, and takes commands a moment later. */
const LISTENS_WITHIN_MS = 10_000;

/**
 * Resolves with the command's exit code; with undefined where no service has the folder.
 * @throws Failure for one of another version, one that ends, and a socket that this user may not open
 */
export async function askService(
  dataDir: string,
  args: readonly string[],
  terminal: Terminal,
): Promise<number | undefined> {
  const socket = await openSocket(dataDir);
  return socket && (await converse(socket, args, terminal).finally(() => socket.destroy()));
}

async function openSocket(dataDir: string): Promise<Socket | undefined> {
  if (!existsSync(dataDir)) return undefined;
  for (let waited = 0; waited < LISTENS_WITHIN_MS; waited += TRY_EVERY_MS) {
    const socket = await connected(dataDir);
    if (socket || !isFolderLocked(dataDir)) return socket;
    await pause(TRY_EVERY_MS);
  }
  throw new Failure(
    "A service has DATA_DIR, but takes no command of this user: it starts or stops, another user runs it, or its log says why",
  );
}

/** Undefined where nobody listens, as beside a copy of the folder, or where this user may not open it. */
async function connected(dataDir: string): Promise<Socket | undefined> {
  const socket = connect(socketOf(dataDir));
  const opening = Promise.withResolvers<Socket | undefined>();
  socket.once("connect", () => opening.resolve(socket));
  socket.on("error", () => opening.resolve(undefined));
  return await opening.promise;
}

async function converse(socket: Socket, args: readonly string[], terminal: Terminal): Promise<number> {
  const channel = byteChannel((bytes) => void socket.write(bytes));
  const asking: Asking = {
    print: (to, bytes) =>
      new Promise((resolve, reject) => {
        terminal[to].write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    size: (file) => ownFiles.source(file).size(),
    async *read(file, signal) {
      for await (const part of ownFiles.source(file).read(signal)) {
        if (signal.aborted) return;
        yield part;
      }
    },
    write: (file) => ownFiles.write(file, parts(file, new AbortController().signal)),
  };
  const calls = new Calls(channel, { asking: () => asking }, Error);
  const { run, signal } = remoteMethods<Asked, "run" | "signal">(calls, "asked", ["run", "signal"]);
  const { parts } = remoteStreams<Asked, "parts">(calls, "asked", ["parts"]);
  const ended = new Failure(
    "The service was stopped while it ran this command: look what has become of it before you repeat it",
  );
  socket.on("close", () => calls.end(ended));
  const listeners = SIGNALS.map((name) => [name, passedOn(name, terminal, signal)] as const);
  for (const [name, listener] of listeners) terminal.on(name, listener);
  try {
    await sameVersion(socket, (bytes) => channel.take(bytes), ended);
    const { stdout, stderr } = terminal;
    const isTTY = { stdout: stdout.isTTY === true, stderr: stderr.isTTY === true };
    return await run(args, { columns: stdout.columns, isTTY });
  } finally {
    for (const [name, listener] of listeners) terminal.off(name, listener);
  }
}

/** Resolves when the service has said that it is of this version; `take` gets what it says after that. */
async function sameVersion(socket: Socket, take: (bytes: Uint8Array) => void, ended: Failure): Promise<void> {
  const greeted = Promise.withResolvers<void>();
  let greeting: string | undefined = "";
  socket.on("close", () => greeted.reject(ended));
  socket.on("data", (bytes) => {
    if (greeting === undefined) return take(bytes);
    greeting += bytes.toString("latin1");
    if (!greeting.includes("\n")) return;
    if (greeting === GREETING) greeted.resolve();
    else greeted.reject(otherVersion(greeting));
    greeting = undefined;
  });
  await greeted.promise;
}

function otherVersion(greeting: string): Failure {
  const version = greeting.trim().replace(/^linkledger /, "");
  return new Failure(
    `The running service is version ${version} and this command ${VERSION}: use the command of the service's version`,
  );
}

/** Ends this process where the command there doesn't end by itself, as for any other program; by a second one in any case. */
function passedOn(name: Signal, terminal: Terminal, signal: Asked["signal"]): () => void {
  let first: number | undefined;
  return () => {
    if (first !== undefined && performance.now() - first > SECOND_AFTER_MS) terminal.exit(EXIT_INTERRUPTED);
    first ??= performance.now();
    signal(name).then(
      (isHeard) => isHeard || terminal.exit(EXIT_INTERRUPTED),
      () => undefined,
    );
  };
}
