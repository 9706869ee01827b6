// The formats of a click export: its columns, as CSV and as JSON Lines.

import type { ClickFacts } from "../../events/click-facts.ts";
import { UTM_FIELDS } from "../../events/vocabulary.ts";
import type { ClickFormat } from "../../queries/log-reader/log-reader.ts";
import type { Position, RecordedEvent } from "../../stores/event-store/port.ts";
import { csvLines } from "../csv-cells.ts";

/** What ties a row to the log. */
type Tie = { eventId: string; position: Position };

export type ExportedClick = ClickFacts & Tie;

/** What stands in an export for a click that can't be read. */
type UnreadableClick = Pick<RecordedEvent, "stream" | "revision" | "recordedAt"> & Tie & { unreadable: true };

export type ClickRow = ExportedClick | UnreadableClick;

/** A column of a click export; values are text. */
export type ClickColumn = readonly [name: string, of: (click: ExportedClick) => string];

/** The columns of one link's clicks. */
export const LINK_COLUMNS: readonly ClickColumn[] = [
  ["at", ({ at }) => at],
  ["type", ({ kind }) => kind],
  ["long_url", ({ longUrl }) => longUrl],
  ["device", ({ device }) => device],
  ["browser", ({ browser }) => browser.name],
  ["browser_version", ({ browser }) => browser.version],
  ["os", ({ os }) => os.name],
  ["country", ({ country }) => country],
  ["region", ({ region }) => region],
  ["city", ({ city }) => city],
  ["language", ({ language }) => language],
  ["referrer", ({ referrer }) => referrer],
  ...UTM_FIELDS.map((field): [string, (click: ExportedClick) => string] => [
    `utm_${field}`,
    ({ utm }) => utm[field] ?? "",
  ]),
  ["rule", ({ rule }) => rule ?? ""],
  ["ip", ({ ip }) => ip],
  ["user_agent", ({ userAgent }) => userAgent],
  ["visitor", ({ visitor }) => visitor],
  ["event_id", ({ eventId }) => eventId],
  ["position", ({ position }) => position],
];

/** The columns of an account's clicks. `link` is `<host>/<slug>`; `type` and what follows are as in the export of one link. */
export const ACCOUNT_COLUMNS: readonly ClickColumn[] = [
  ["link", ({ link }) => link],
  ...LINK_COLUMNS,
  ["account_visitor", ({ accountVisitor }) => accountVisitor],
  ["via", ({ via }) => via],
  ["method", ({ method }) => method],
  ["prefetch", ({ prefetch }) => prefetch],
];

/** The columns of the clicks of many accounts. */
export const CLICK_COLUMNS: readonly ClickColumn[] = ACCOUNT_COLUMNS.toSpliced(1, 0, [
  "account_id",
  ({ accountId }) => accountId,
]);

/**
 * The text in a column. A click that can't be read has the type `unreadable`, and of the others only the time of its
 * recording and where its event is.
 */
export function cellOf([name, of]: ClickColumn, row: ClickRow): string {
  if (!("unreadable" in row)) return of(row);
  const { recordedAt: at, eventId, position } = row;
  return { at, type: "unreadable", event_id: eventId, position }[name] ?? "";
}

/** `head`: start of the file. `line`: one click, with its line end. */
type ClickTable = { head: string; line(row: ClickRow): string };

export function clickLines(columns: readonly ClickColumn[]): Readonly<Record<ClickFormat, ClickTable>> {
  const names = columns.map(([name]) => name);
  const table = (forSpreadsheets: boolean) => {
    const { head, line } = csvLines(names, forSpreadsheets);
    return { head, line: (row: ClickRow) => line(columns.map((column) => cellOf(column, row))) };
  };
  return {
    csv: table(false),
    spreadsheet: table(true),
    ndjson: {
      head: "",
      line: (row: ClickRow) => {
        const cells = Object.fromEntries(columns.map((column) => [column[0], cellOf(column, row)]));
        const place = "unreadable" in row ? { stream: row.stream, revision: row.revision } : {};
        return `${JSON.stringify({ ...cells, ...place })}\n`;
      },
    },
  };
}
