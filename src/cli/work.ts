// What a long command does beside its work: it shows how far it is, and ends cleanly at Ctrl-C.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Refused } from "../commands/refusals.ts";
import { describeProgress, progressOf } from "../projections/fold/progress.ts";
import { logProgress } from "../stores/event-store/log-progress.ts";
import { type EventStore, type LogPage, type Position, START } from "../stores/event-store/port.ts";
import { counted, type Terminal } from "./output.ts";

export const EXIT_INTERRUPTED = 130;

export const SIGNALS = ["SIGINT", "SIGTERM"] as const;
export type Signal = (typeof SIGNALS)[number];
/** Terminals and npm may both send the first one. */
export const SECOND_AFTER_MS = 1_000;
const FIRST_AFTER_MS = 1_000;
const REWRITE_EVERY_MS = 100;
const LINE_EVERY_MS = 10_000;

type Output = { isTTY?: boolean; write(text: string): unknown };

/** `share`: of the whole, 0 to 1. */
type Step = { count: number; share: number; unit: "event" | "record" | "MB" };

export type Work = ReturnType<typeof workOn>;

/**
 * `json`: a program reads the output, and is shown no progress. Outside of `interruptible` a signal ends the process as it
 * does any other.
 */
export function workOn(terminal: Terminal, { json = false }: { json?: boolean }) {
  const { stdout, stderr } = terminal;
  let line = json ? undefined : progressLine(stderr);
  const ending = new AbortController();
  /** Aborted, with a refusal `interrupted` as its reason, by SIGINT and SIGTERM. */
  const { signal } = ending;
  let isInterruptible = false;
  let events = 0;
  let share = 0;

  /** Such as `42 %`. */
  const shareText = () => `${Math.floor(share * 100)} %`;

  function show(step: Step): void {
    share = step.share;
    if (!signal.aborted) line?.show(step);
  }

  /** `outcome`: what was done by now, and how to go on. @throws what `work` throws */
  async function interruptible<T>(outcome: () => string, work: () => Promise<T>): Promise<T> {
    let interruptedAt = 0;
    const interrupt = () => {
      if (!signal.aborted) {
        interruptedAt = performance.now();
        ending.abort(new Refused("interrupted", outcome()));
        if (stderr.isTTY) line?.say("Ending; press Ctrl-C again to end at once");
      } else if (performance.now() - interruptedAt > SECOND_AFTER_MS) terminal.exit(EXIT_INTERRUPTED);
    };
    for (const name of SIGNALS) terminal.on(name, interrupt);
    isInterruptible = true;
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      isInterruptible = false;
      // Once interrupted, a second signal must not end the process before it has said so.
      if (!signal.aborted) for (const name of SIGNALS) terminal.off(name, interrupt);
    }
  }

  /** Writes parts of the log to standard output, as fast as they are read; without progress between them on a terminal. */
  async function printing(parts: AsyncIterable<string>): Promise<undefined> {
    if (stdout.isTTY) line = undefined;
    const outcome = () => `${shareText()} of the log was read: the output is not complete`;
    const print = () => pipeline(Readable.from(parts), stdout, { end: false });
    await interruptible(outcome, print).catch((error: NodeJS.ErrnoException) => {
      // Its reader has what it wanted.
      if (error.code !== "EPIPE") throw error;
    });
  }

  /** The log, with progress by its positions: whatever reads it page by page shows how far it is and can be ended. */
  function watched(log: EventStore): EventStore {
    let head: Position | undefined;
    const page = async <E>(isFirst: boolean, read: () => Promise<LogPage<E>>) => {
      terminal.gone?.throwIfAborted();
      if (isInterruptible) signal.throwIfAborted();
      head ??= await log.head();
      const looked = await read();
      events = looked.events.length + (isFirst ? 0 : events);
      show({ count: events, unit: "event", share: logProgress(looked.next, head) });
      return looked;
    };
    return {
      append: log.append.bind(log),
      read: log.read.bind(log),
      idAt: log.idAt.bind(log),
      structureProblems: log.structureProblems.bind(log),
      subscribe: log.subscribe.bind(log),
      subscribeAsRead: log.subscribeAsRead.bind(log),
      head: log.head.bind(log),
      close: log.close.bind(log),
      readAll: (options) => page(options.after === START, () => log.readAll(options)),
      readStored: (options) => page(options.after === START, () => log.readStored(options)),
    };
  }

  return {
    signal,
    show,
    interruptible,
    printing,
    watched,
    get shareText() {
      return shareText();
    },
    /** Before an answer is printed. */
    endLine: () => line?.clear(),
  };
}

/** One line that is rewritten on a terminal, else a line every ten seconds; nothing of what takes less than a second. */
export function progressLine(output: Output, now: () => number = () => performance.now()) {
  const begun = now();
  const { isTTY = false } = output;
  let shownAt = Number.NEGATIVE_INFINITY;
  /** Of the present pass: work that reads twice begins again, and some goes on where it once ended. */
  let start = { at: begun, share: 0, count: 0 };
  let last: Step | undefined;
  let isOpen = false;
  const say = (text: string) => {
    shownAt = now();
    output.write(isTTY ? `\r\u001b[K${text}` : `${text}\n`);
    isOpen = isTTY;
  };
  return {
    say,
    show(step: Step) {
      const { count, share, unit } = step;
      if (!last || share < last.share || count < last.count) start = { at: now(), share, count };
      last = step;
      if (now() - begun < (isTTY ? FIRST_AFTER_MS : LINE_EVERY_MS)) return;
      if (now() - shownAt < (isTTY ? REWRITE_EVERY_MS : LINE_EVERY_MS)) return;
      const amount = counted(count, unit, unit === "MB" ? unit : undefined);
      say(describeProgress(progressOf(count - start.count, now() - start.at, share, start.share), amount));
    },
    clear() {
      if (isOpen) output.write("\r\u001b[K");
      isOpen = false;
    },
  };
}
