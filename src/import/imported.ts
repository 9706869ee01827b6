// What the files of other services hold, in our words: links and clicks with what is known of them.
import type { LinkChange, OperatorChange } from "../commands/links/link.ts";
import type { LinkClicked } from "../events/catalogue.ts";
import type { CreatedVia, DeviceType } from "../events/vocabulary.ts";

/**
 * `place`: where it stands in the file, such as `line 17`. `columns`: of a file that has a line of them, which may be more
 * than a record has.
 */
export type Row = {
  place: string;
  value: Readonly<Record<string, unknown>>;
  columns?: readonly string[] | undefined;
};

/** What every record of a file has: one name of each list. */
export type Columns = readonly (readonly [string, ...string[]])[];

/** A change after the creation. `at`: ISO 8601 UTC; undefined for that of what was before it. */
export type ImportedChange = { at: string | undefined; change: LinkChange | OperatorChange };

type Click = LinkClicked["data"];

export type ImportedLink = {
  slug: string;
  /** Host of the short URL at the other service; undefined for its default host. */
  domain: string | undefined;
  /** What clicks name the link by, where that isn't domain and slug. */
  id?: string | undefined;
  /** The destination when it was created. */
  longUrl: string;
  /** ISO 8601 UTC; the time of the import when it isn't known. */
  createdAt: string | undefined;
  changes: readonly ImportedChange[];
  /** How many clicks the other service counted; details may be known of fewer. */
  totalClicks?: number | undefined;
  /** Of our own export. */
  via?: CreatedVia | undefined;
  custom?: boolean | undefined;
};

/** What a click names its link by. */
export type LinkReference = { id: string } | { domain: string | undefined; slug: string };

/** Facts of a click; an absent one isn't known. */
export type ClickFacts = {
  /** ISO 8601 UTC. */
  at: string;
  userAgent?: string | undefined;
  /** The whole address where it is known; it is anonymised before anything is written. */
  ip?: string | undefined;
  country?: string | undefined;
  region?: string | undefined;
  city?: string | undefined;
  /** "" for none. */
  referrer?: string | undefined;
  /** A program and no person, as the other service said. */
  isBot?: boolean | undefined;
  /** Only of a click without a user agent, which says it otherwise. */
  device?: DeviceType | undefined;
  browser?: string | undefined;
  os?: string | undefined;
  /** How many changes the link had had; 0 by default. */
  revision?: number | undefined;
  /** Whether the QR image was scanned. */
  isScan?: boolean | undefined;
  method?: Click["method"] | undefined;
  utm?: Click["utm"] | undefined;
  language?: string | undefined;
  prefetch?: string | undefined;
  /** Of our own export, as the salt that they were made under is gone. */
  visitors?: Pick<Click, "visitor" | "accountVisitor"> | undefined;
};

/**
 * `identity`: the same for the same click in another file, so that no click is imported twice; among clicks of one link
 * and time. `isId`: two clicks never share it; without, equal ones are told apart by their number.
 */
export type ImportedClick = { link: LinkReference; identity: string; isId: boolean; facts: ClickFacts };

/**
 * Reads the records of one service; both functions throw record_refused, or another DomainError, for a record that can't be
 * taken. Without `columns.clicks`, clicks come in the file of the links.
 */
export type ImportFormat = {
  /** Undefined for a record that is no link. */
  linkOf(row: Row, now: Date): ImportedLink | undefined;
  /** Of the links' file too, where that has both. */
  clicksOf(row: Row): readonly ImportedClick[];
  columns: { links: Columns; clicks?: Columns };
};
