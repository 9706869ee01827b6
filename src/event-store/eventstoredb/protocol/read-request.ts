// The request of a read, as protobuf: one stream, the whole log by prefixes, its last event, or a subscription to it.
import type { LogSubscription, PrefixRead, StreamRead } from "../driver.ts";
import type { LogPosition } from "../positions.ts";
import { lengthKey, newWriter, numberKey, type Writer, writeChoice } from "./wire-format.ts";

export const READ_PATH = "/event_store.client.streams.Streams/Read";

/** Events that the server looks through before it answers, matching or not. */
const SEARCH_WINDOW = 1000;

const BACKWARDS = 1;

export function streamRequest({ stream, from, backwards, limit }: StreamRead): Uint8Array {
  return request((options) => {
    options.uint32(lengthKey(1)).fork();
    options.uint32(lengthKey(1)).fork().uint32(lengthKey(3)).string(stream).ldelim();
    if (from !== undefined) options.uint32(numberKey(2)).uint64(from);
    else writeChoice(options, backwards ? 4 : 3);
    options.ldelim();
    writeDirection(options, backwards);
    writeLimit(options, limit);
    writeUnfiltered(options);
  });
}

export function lastRequest(): Uint8Array {
  return request((options) => {
    options.uint32(lengthKey(2)).fork();
    writeChoice(options, 3);
    options.ldelim();
    writeDirection(options, true);
    writeLimit(options, 1);
    writeUnfiltered(options);
  });
}

export function prefixRequest({ from, prefixes, limit }: PrefixRead): Uint8Array {
  return request((options) => {
    writeStart(options, from);
    writeLimit(options, limit);
    writeFilter(options, prefixes);
  });
}

export function subscriptionRequest({ after, prefixes }: LogSubscription): Uint8Array {
  return request((options) => {
    writeStart(options, after);
    writeChoice(options, 6);
    writeFilter(options, prefixes);
  });
}

/** `ReadReq.options`, with ids asked for as text. */
function request(write: (options: Writer) => void): Uint8Array {
  const writer = newWriter();
  writer.uint32(lengthKey(1)).fork();
  write(writer);
  writer.uint32(lengthKey(9)).fork();
  writeChoice(writer, 2);
  return writer.ldelim().ldelim().finish();
}

/** Of the whole log, forwards: from the position, or from the log's start. */
function writeStart(options: Writer, from: LogPosition | undefined): void {
  options.uint32(lengthKey(2)).fork();
  if (from) {
    options.uint32(lengthKey(1)).fork();
    writeUnsigned(options, 1, from.commit);
    writeUnsigned(options, 2, from.prepare);
    options.ldelim();
  } else {
    writeChoice(options, 2);
  }
  options.ldelim();
}

function writeUnsigned(writer: Writer, field: number, digits: string): void {
  if (digits !== "0") writer.uint32(numberKey(field)).uint64(digits);
}

function writeDirection(options: Writer, backwards: boolean): void {
  if (backwards) options.uint32(numberKey(3)).int32(BACKWARDS);
}

function writeLimit(options: Writer, limit: number): void {
  options.uint32(numberKey(5)).uint64(limit);
}

function writeUnfiltered(options: Writer): void {
  writeChoice(options, 8);
}

function writeFilter(options: Writer, prefixes: readonly string[]): void {
  options.uint32(lengthKey(7)).fork();
  options.uint32(lengthKey(1)).fork();
  for (const prefix of prefixes) options.uint32(lengthKey(2)).string(prefix);
  options.ldelim();
  options.uint32(numberKey(3)).uint32(SEARCH_WINDOW);
  options.uint32(numberKey(5)).uint32(1);
  options.ldelim();
}
