// The files of an import, in the order in which they are read, and whether each is of the format that is named.
import { Refused } from "../../commands/refusals.ts";
import { cleanText } from "../../events/classification/clean-text.ts";
import type { Columns, ImportFormat } from "./imported.ts";
import type { Source } from "./reading/lines.ts";
import { type PageTally, pageTally } from "./reading/page-tally.ts";
import type { Row, RowOrError } from "./reading/row.ts";

/** Records that are looked at until one can be read. */
const MOST_UNREADABLE = 1_000;
const MOST_OF_NAMES = 500;

export type Part = {
  source: Source;
  needed: Columns;
  hasLinks: boolean;
  hasClicks: boolean;
  pages: PageTally;
};

/** `clicks`: a file of their own. */
export function partsOf({ columns }: ImportFormat, links: Source, clicks: Source | undefined): Part[] {
  const part = (source: Source, needed: Columns) => ({ source, needed, pages: pageTally() });
  const ofLinks = { ...part(links, columns.links), hasLinks: true, hasClicks: !columns.clicks };
  if (clicks === undefined || !columns.clicks) return [ofLinks];
  return [ofLinks, { ...part(clicks, columns.clicks), hasLinks: false, hasClicks: true }];
}

/** Names of fields in the format's files. */
export function namesOf({ fields, columns }: ImportFormat): string[] {
  const { mapped, leftOut, refused } = fields;
  const needed = [...columns.links, ...(columns.clicks ?? [])].flat();
  const names = [
    ...needed,
    ...Object.values(mapped).flat(),
    ...Object.keys(leftOut),
    ...Object.keys(refused),
  ];
  return [...new Set(names)];
}

/**
 * A line of columns must name all that is needed. Records of JSON may each lack something: the first one that can be read, of
 * so many, is refused only where it has nothing of what is needed. Returns the rows, all of them. @throws wrong_format
 */
export async function refuseOtherFile(
  { source, needed }: Part,
  rows: AsyncGenerator<RowOrError>,
): Promise<AsyncIterable<RowOrError>> {
  const first: RowOrError[] = [];
  while (first.length < MOST_UNREADABLE) {
    const { value: row, done } = await rows.next();
    if (done) break;
    first.push(row);
    if ("error" in row) continue;
    refuseOther(source.name, row, needed);
    break;
  }
  return (async function* () {
    yield* first;
    yield* rows;
  })();
}

function refuseOther(file: string, row: Row, needed: Columns): void {
  const names = row.columns ?? Object.keys(row.record);
  const isThere = (column: Columns[number]) => column.some((name) => names.includes(name));
  if (row.columns ? needed.every(isThere) : needed.some(isThere)) return;
  const expected = needed.map((column) => column.join(" or ")).join(", and ");
  const present = cleanText(names.join(", "), MOST_OF_NAMES) || "none";
  const what = row.columns ? "columns" : "members";
  const why = `${file} is of another format: expected the ${what} ${expected}; found ${present}`;
  throw new Refused("wrong_format", why);
}
