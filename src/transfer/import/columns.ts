// A format as a table: which of our fields each column of a file is, by the names it has there, and the type of its values.
import { countOf, isTrue, listOf, numberOf, optionalTime, requiredText, textOf } from "./fields.ts";
import type {
  Columns,
  FieldList,
  Fields,
  ImportContext,
  ImportedChange,
  ImportedClick,
  ImportedFields,
  ImportedLink,
  ImportFormat,
} from "./imported.ts";

/** Reads a value by the first of the names that has one. @throws Failure for what is not of its type */
export type Read<T> = (record: Fields, names: readonly string[], context: ImportContext) => T;

type Column<T> = { names: readonly string[]; read: Read<T> };

/** `read` may also look at what the names lead to together. */
export function column<T>(read: Read<T>, ...names: readonly string[]): Column<T> {
  return { names, read };
}

const columnsOf =
  <T>(read: Read<T>) =>
  (...names: readonly string[]) =>
    column(read, ...names);

export const text = columnsOf(textOf);
export const required = columnsOf(requiredText);
export const lowerCase = columnsOf((record, names) => textOf(record, names)?.toLowerCase());
export const list = columnsOf(listOf);
export const time = columnsOf(optionalTime);
export const flag = columnsOf(isTrue);
export const wholeNumber = columnsOf(numberOf);
export const total = columnsOf(totalOf);

/** A total that is no whole number is not taken, which `note` hears. */
export function totalOf(record: Fields, names: readonly string[], { note }: ImportContext) {
  const [count, written] = [countOf(record, names), textOf(record, names)];
  if (count === undefined && written !== undefined)
    note(`the total of clicks is not taken, as ${written} is no whole number`);
  return count;
}

/** `disabled`: since when, or that it is. `clicks`: their total. */
type LinkValues = Required<ImportedFields> & {
  slug: string | undefined;
  domain: string | undefined;
  url: string;
  created_at: string | undefined;
  disabled: string | boolean | undefined;
  deleted: boolean;
  clicks: number | undefined;
};

/** By our word for it. Columns of other words are for `complete` to read. */
type LinkColumns = { url: Column<string> } & { [word in keyof LinkValues]?: Column<LinkValues[word]> };

type Table = {
  name: string;
  links: LinkColumns;
  /** Further columns, which `complete` reads. */
  further?: Readonly<Record<string, readonly string[]>>;
  leftOut?: FieldList["leftOut"];
  refused?: FieldList["refused"];
  /** Columns that links need; slug and destination by default. */
  needed?: Columns;
  /** What a link is beyond its columns. */
  complete?(link: ImportedLink, record: Fields, context: ImportContext): readonly ImportedLink[];
  clicks?: { needed: Columns; of(record: Fields, context: ImportContext): readonly ImportedClick[] };
  hasLocalTimes?: true;
};

export function tableFormat({
  name,
  links,
  further,
  leftOut = {},
  refused = {},
  ...table
}: Table): ImportFormat {
  const mapped = Object.fromEntries(Object.entries(links).map(([word, { names }]) => [word, names]));
  const { needed = [mapped.slug ?? [], links.url.names], complete, clicks, hasLocalTimes } = table;
  return {
    name,
    fields: { mapped: { ...mapped, ...further }, leftOut, refused },
    columns: { links: needed, ...(clicks && { clicks: clicks.needed }) },
    ...(hasLocalTimes && { hasLocalTimes }),
    linksOf(record, context) {
      const link = linkOf(links, record, context);
      return complete ? complete(link, record, context) : [link];
    },
    clicksOf: clicks?.of ?? (() => []),
  };
}

function linkOf(columns: LinkColumns, record: Fields, context: ImportContext): ImportedLink {
  const values = Object.fromEntries(
    Object.entries(columns).map(([word, { read, names }]) => [word, read(record, names, context)]),
  ) as Partial<LinkValues> & Pick<LinkValues, "url">;
  const { slug, domain, url, created_at, disabled, deleted, clicks, ...fields } = values;
  const changes: ImportedChange[] = [];
  if (deleted) changes.push({ at: undefined, change: { type: "delete" } });
  if (disabled) changes.push({ at: disabled === true ? undefined : disabled, change: { type: "disable" } });
  return { slug, domain, longUrl: url, createdAt: created_at, changes, fields, totalClicks: clicks };
}
