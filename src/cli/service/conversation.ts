// The service's side of ask-service.ts: one command, whose files and terminal are in another process.
import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { isRefusalCode, Refused } from "../../commands/refusals.ts";
import type { ErrorFields } from "../../runtime/error-fields.ts";
import { byteChannel } from "../../runtime/threads/byte-channel.ts";
import { Calls } from "../../runtime/threads/calls.ts";
import { remoteMethods, remoteStreams } from "../../runtime/threads/remote.ts";
import { runCommandLine } from "../command-line.ts";
import { type Files, nameOf } from "../files.ts";
import type { Terminal } from "../output.ts";
import type { Served } from "../session.ts";
import type { Asked, Asking } from "./ask-service.ts";

const PRINTED_BYTES = 2 ** 20;

export type Conversation = {
  /** What is to be sent, until `hangUp`. */
  answers: AsyncIterable<Uint8Array>;
  /** For what was sent. */
  take(bytes: Uint8Array): void;
  /** Ends the command as Ctrl-C does; where none has come, the conversation. */
  interrupt(): void;
  /** For when the other process has gone: ends the command, also one that Ctrl-C there would end with its process. */
  hangUp(): void;
};

export function converse(open: () => Promise<Omit<Served, "files">>): Conversation {
  const answers = new PassThrough();
  const signals = new EventEmitter();
  const gone = new AbortController();
  const channel = byteChannel((bytes) => void answers.write(bytes));
  let hasCommand = false;
  const parts = new Map<string, AsyncIterable<string | Uint8Array>>();
  const asked: Asked = {
    async run(args, { columns, isTTY }) {
      hasCommand = true;
      const outputs = [output("stdout"), output("stderr")] as const;
      const [stdout, stderr] = outputs;
      const terminal: Terminal = {
        env: {},
        stdout: Object.assign(stdout, { columns, isTTY: isTTY.stdout }),
        stderr: Object.assign(stderr, { isTTY: isTTY.stderr }),
        on: signals.on.bind(signals),
        off: signals.off.bind(signals),
        // The other process ends by itself.
        exit: () => undefined,
        gone: gone.signal,
      };
      const code = await runCommandLine(args, terminal, async () => ({ ...(await open()), files }));
      await Promise.all(outputs.map((stream) => new Promise<void>((resolve) => stream.end(resolve))));
      return code;
    },
    signal: async (name) => signals.emit(name),
    async *parts(file, signal) {
      for await (const part of parts.get(file) ?? []) {
        if (signal.aborted) return;
        yield Buffer.from(part);
      }
    },
  };
  const calls = new Calls(channel, { asked: () => asked }, refusalOf);
  const { print, size, write } = remoteMethods<Asking, "print" | "size" | "write">(calls, "asking", [
    "print",
    "size",
    "write",
  ]);
  const { read } = remoteStreams<Asking, "read">(calls, "asking", ["read"]);
  /** A long answer in several messages. */
  const printed = async (to: "stdout" | "stderr", bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += PRINTED_BYTES)
      await print(to, bytes.subarray(at, at + PRINTED_BYTES));
  };
  const output = (to: "stdout" | "stderr") => {
    const stream = new Writable({
      write: (bytes: Buffer, _, taken) => void printed(to, bytes).then(() => taken(), taken),
    });
    // Whoever writes is told by `gone`.
    return stream.on("error", () => undefined);
  };
  const files: Files = {
    source: (file) => ({
      name: nameOf(file),
      size: () =>
        size(file).catch((error: unknown) => {
          throw withName(file, error);
        }),
      async *read(signal) {
        const ended = AbortSignal.any([gone.signal, ...(signal ? [signal] : [])]);
        try {
          for await (const part of read(file, ended)) yield Buffer.from(part);
        } catch (error) {
          throw withName(file, error);
        }
      },
    }),
    async write(file, content) {
      let failure: { error: unknown } | undefined;
      const watched = async function* () {
        try {
          yield* content;
        } catch (error) {
          failure = { error };
          throw error;
        }
      };
      parts.set(file, watched());
      try {
        return await write(file);
      } catch (error) {
        // As it was, before it was sent to and fro.
        throw failure ? failure.error : withName(file, error);
      } finally {
        parts.delete(file);
      }
    },
  };
  return {
    answers,
    take: channel.take,
    interrupt: () => void (hasCommand ? signals.emit("SIGTERM") : answers.end()),
    hangUp() {
      gone.abort(new Error("The command's process has ended"));
      signals.emit("SIGTERM");
      calls.end(new Error("The command's process has ended"));
      answers.destroy();
    },
  };
}

/** What the other process refuses, or its file system, as it would be here. */
function refusalOf(message: string, cause?: unknown): Error {
  const { code, message: text = message } = (cause ?? {}) as Partial<ErrorFields>;
  if (isRefusalCode(code)) return new Refused(code, text);
  return Object.assign(new Error(text), { code });
}

/** An error of the file system doesn't bring the file's name along. */
function withName(file: string, error: unknown): unknown {
  return error instanceof Refused ? error : Object.assign(error as Error, { path: file });
}
