// The lines of an exported log: `linkledger audit export` writes them, `audit verify --file` reads them.
import { z } from "zod";
import { messageOf } from "../../runtime/errors.ts";
import { Refused } from "../../runtime/refused.ts";
import type { RecordedEvent } from "../../stores/event-store/port.ts";

export const EXPORT_FORMAT = "linkledger log 1";

/** All that are given must hold. `from` and `to`: positions, inclusive. */
export type ExportSelection = {
  from?: string | undefined;
  to?: string | undefined;
  stream?: string | undefined;
};

export type ExportLine =
  | ({ export: typeof EXPORT_FORMAT } & ExportSelection)
  /** What follows, up to the next seal, is its block. */
  | { seal: RecordedEvent }
  | { event: RecordedEvent }
  /** A part of the block's Merkle tree that was not selected. */
  | { hash: string; events: number }
  /** What follows has no seal yet. */
  | { unsealed: true }
  | { end: true };

const recorded = z.strictObject({
  id: z.string(),
  type: z.string(),
  stream: z.string(),
  revision: z.int(),
  position: z.string(),
  recordedAt: z.string(),
  data: z.unknown(),
  metadata: z.unknown(),
  // Of an event that the store could not parse.
  unreadable: z.string().optional(),
});
const lineSchema = z.union([
  z.strictObject({
    export: z.literal(EXPORT_FORMAT),
    from: z.string().optional(),
    to: z.string().optional(),
    stream: z.string().optional(),
  }),
  z.strictObject({ event: recorded }),
  z.strictObject({ seal: recorded }),
  z.strictObject({ hash: z.string().regex(/^[0-9a-f]{64}$/), events: z.int().min(1) }),
  z.strictObject({ unsealed: z.literal(true) }),
  z.strictObject({ end: z.literal(true) }),
]);

export function isSelected(
  { from, to, stream }: ExportSelection,
  place: { stream: string; position: string },
): boolean {
  if (stream !== undefined && place.stream !== stream) return false;
  return (from === undefined || place.position >= from) && (to === undefined || place.position <= to);
}

/** `number`: of the line, for the message. @throws bad_export */
export function parseExportLine(text: string, number: number): ExportLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Refused("bad_export", `Line ${number} can't be read: ${messageOf(cause)}`, { cause });
  }
  const line = lineSchema.safeParse(value);
  if (!line.success) throw new Refused("bad_export", `Line ${number} is of no kind that an export has`);
  return line.data as ExportLine;
}
