// What the files of other services hold, in our words: links and clicks with what is known of them.
import type { LinkChange, OperatorChange } from "../commands/links/link.ts";
import type { LinkClicked } from "../events/catalogue.ts";
import type { CreatedVia, DeviceType } from "../events/vocabulary.ts";

/** As it is in the file. */
export type Fields = Readonly<Record<string, unknown>>;

/** What every record of a file has: one name of each list. */
export type Columns = readonly (readonly [string, ...string[]])[];

/** A change after the creation. `at`: ISO 8601 UTC; undefined for that of what was before it. */
export type ImportedChange = { at: string | undefined; change: LinkChange | OperatorChange };

/** What a click names its link by. `domain`: host at the other service, undefined for its default host. */
export type LinkReference = { id: string } | { domain?: string | undefined; slug: string };

/**
 * `id`: what clicks name the link by, where that isn't domain and slug. `longUrl`: the destination when it was created.
 * `createdAt`: ISO 8601 UTC; the time of the import when it isn't known. `totalClicks`: what the other service counted,
 * details may be known of fewer. `via`, `custom`: of our own export.
 */
export type ImportedLink = {
  slug: string;
  domain?: string | undefined;
  id?: string | undefined;
  longUrl: string;
  createdAt: string | undefined;
  changes?: readonly ImportedChange[];
  totalClicks?: number | undefined;
  via?: CreatedVia;
  custom?: boolean;
};

type Click = LinkClicked["data"];
type KnownText = "userAgent" | "country" | "region" | "city" | "browser" | "os" | "language" | "prefetch";

/** Facts of a click; an absent one isn't known. */
export type ClickFacts = { [name in KnownText]?: string | undefined } & {
  /** ISO 8601 UTC. */
  at: string;
  /** The whole address where it is known; it is anonymised before anything is written. */
  ip?: string | undefined;
  /** "" for none. */
  referrer?: string | undefined;
  /** A program and no person, as the other service said. */
  isBot?: boolean;
  /** Only of a click without a user agent, which says it otherwise. */
  device?: DeviceType | undefined;
  /** How many changes the link had had; 0 by default. */
  revision?: number | undefined;
  /** Whether the QR image was scanned. */
  isScan?: boolean;
  method?: Click["method"] | undefined;
  utm?: Click["utm"] | undefined;
  /** Of our own export, as the salt that they were made under is gone. */
  visitors?: Pick<Click, "visitor" | "accountVisitor">;
};

/**
 * `id`: the same for the same click in another file, so that no click is imported twice. Without one a click is told by its
 * link, time and `traits`, and by its number among those that share them.
 */
export type ImportedClick = { link: LinkReference; facts: ClickFacts } & (
  | { id: string }
  | { traits: string }
);

/** Reads the records of one service; both functions throw a refusal for a record that can't be taken. */
export type ImportFormat = {
  /** Undefined for a record that is no link. */
  linkOf(record: Fields, now: Date): ImportedLink | undefined;
  /** Of the links' file too, where that has both. */
  clicksOf(record: Fields): readonly ImportedClick[];
  /** Without `clicks`, they come in the file of the links. */
  columns: { links: Columns; clicks?: Columns };
};
