// The lines of an exported log: `linkledger audit export` writes them, `audit verify --file` and the script of docs/audit.md
// read them.
import { z } from "zod";
import { Refused } from "../../commands/refusals.ts";
import { PREFIX, withdrawalStream } from "../../events/streams.ts";
import { messageOf } from "../../runtime/errors.ts";
import type { Position } from "../../stores/event-store/port.ts";
import { sealSchema, shownSealSchema } from "../seals/judge-seals.ts";
import { leafHash } from "../seals/merkle.ts";
import type { Place } from "../seals/places.ts";
import type { Seal, ShownSeal } from "../seals/seal.ts";

export const EXPORT_FORMAT = "linkledger log 3";

/** All that are given must hold. `from` and `to`: positions, inclusive. `link`: its events, and withdrawals of its clicks. */
export type ExportSelection = {
  link?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  stream?: string | undefined;
};

export type ExportLine =
  | ({ export: typeof EXPORT_FORMAT } & ExportSelection)
  /** What follows, up to the next seal, is its block. */
  | { seal: Seal | ShownSeal }
  /** Of an event, whose line is that of lineOf: what was hashed. */
  | { event: Place; leaf: Buffer }
  /** A part of the block's Merkle tree that was not selected. */
  | { hash: string; events: number }
  /** What follows has no seal yet. */
  | { unsealed: true }
  | { end: true };

const [text, number] = [z.string(), z.int()];
/** Id, stream, revision, position, type, time of the recording, data and metadata. */
const eventSchema = z.tuple([text, text, number, text, text, text, text, text]);
const lineSchema = z.union([
  // Nothing besides, by which its owner could leave out what came before.
  z.strictObject({ export: z.literal(EXPORT_FORMAT), link: z.string() }),
  z.strictObject({
    export: z.literal(EXPORT_FORMAT),
    from: z.string().optional(),
    to: z.string().optional(),
    stream: z.string().optional(),
  }),
  z.strictObject({ seal: z.union([sealSchema, shownSealSchema]) }),
  z.strictObject({ hash: z.string().regex(/^[0-9a-f]{64}$/), events: z.int().min(1) }),
  z.strictObject({ unsealed: z.literal(true) }),
  z.strictObject({ end: z.literal(true) }),
  eventSchema.transform(([, stream, revision, position]) => ({ event: { stream, revision, position } })),
]);

export function isSelected(
  { from, to, stream, link }: ExportSelection,
  place: { stream: string; position: Position },
): boolean {
  if (link !== undefined && !streamsOfLink(link).includes(place.stream)) return false;
  if (stream !== undefined && place.stream !== stream) return false;
  return (from === undefined || place.position >= from) && (to === undefined || place.position <= to);
}

/** `link`: its key. */
export function streamsOfLink(link: string): string[] {
  return [`${PREFIX.link}${link}`, withdrawalStream(link)];
}

/** `number`: of the line, for the message. @throws bad_export */
export function parseExportLine(line: string, number: number): ExportLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new Refused("bad_export", `Line ${number} can't be read: ${messageOf(cause)}`, { cause });
  }
  const { success, data } = lineSchema.safeParse(value);
  if (!success) throw new Refused("bad_export", `Line ${number} is of no kind that an export has`);
  return "event" in data ? { ...data, leaf: leafHash(line) } : data;
}
