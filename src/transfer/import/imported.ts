// What the files of other services hold, in our words: links and clicks with what is known of them.

import type { LinkFields } from "../../commands/links/fields/link-fields.ts";
import type { LinkChange, OperatorChange } from "../../commands/links/link.ts";
import type { LinkClicked } from "../../events/catalogue.ts";
import type { CreatedVia, DeviceType } from "../../events/vocabulary.ts";
import type { TimeZone } from "../../queries/analytics/time-zone.ts";

/** As it is in the file. */
export type Fields = Readonly<Record<string, unknown>>;

/** What every record of a file has: one name of each list. */
export type Columns = readonly (readonly string[])[];

/**
 * The one list of a link's fields at a service, by which records are read and the report accounts for them. A dot
 * leads to a member of a member. `mapped`: by our word for it, the names that the field has in one file or
 * another. `leftOut`, by the field's name there: why we don't take it. `refused`, likewise: why a link that has it
 * is not made, as it would go live without a condition that it has there.
 */
export type FieldList = {
  mapped: Readonly<Record<string, readonly string[]>>;
  leftOut: Readonly<Record<string, string>>;
  refused: Readonly<Record<string, string>>;
};

/**
 * A change after the creation. `at`: ISO 8601 UTC; undefined for that of what was before it. `reach-end`: noted there, by
 * so many clicks.
 */
export type ImportedChange = {
  at: string | undefined;
  change:
    | Exclude<LinkChange, { type: "set" }>
    | { type: "set"; fields: ImportedFields }
    | OperatorChange
    | { type: "reach-end"; people: number };
};

/** What a click names its link by. `domain`: host at the other service, undefined for its default host. */
export type LinkReference = { id: string } | { domain?: string | undefined; slug: string };

/**
 * A password in plain text or as its argon2id hash; `replaced`: one that the link had before another, and that
 * nobody needs.
 */
export type ImportedPassword = { text: string } | { hash: string } | "replaced";

/** What a link carries, as a request says it. */
export type ImportedFields = Omit<LinkFields, "password"> & {
  password?: ImportedPassword | null | undefined;
};

export type ImportedRule = NonNullable<LinkFields["rules"]>[number];

/**
 * `domain`: host that served it, as it is written there. `site`: what tells the source from another of its kind where the domain doesn't, such as its default host; only
 * what all its files say, so that each of them names the link alike. `id`: what clicks name the link by, where
 * that isn't domain and slug. `longUrl`: the destination when it was created. `createdAt`: ISO 8601 UTC; the time
 * of the import when it isn't known. `totalClicks`: what the other service counted, details may be known of fewer.
 * `via`, `custom`: of our own export.
 */
export type ImportedLink = {
  /** Absent where the file has none: it gets one, the same whenever its destination is imported. */
  slug?: string | undefined;
  domain?: string | undefined;
  site?: string | undefined;
  id?: string | undefined;
  longUrl: string;
  createdAt: string | undefined;
  changes?: readonly ImportedChange[];
  fields?: ImportedFields;
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
  /** The id of the link's rule that led it, or NO_RULE. */
  rule?: string | undefined;
  /** Whether the QR image was scanned. */
  isScan?: boolean;
  method?: Click["method"] | undefined;
  utm?: Click["utm"] | undefined;
  /** From our own export, as the salt that they were made under is gone. */
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

/**
 * `withClicks`: there is a file of clicks, too, so that the totals of links are known one by one. `zone`: of times without
 * an offset; undefined where nobody has said it and the service has none of its own. `note`: hears what a link loses.
 */
export type ImportContext = {
  now: Date;
  withClicks: boolean;
  zone: TimeZone | undefined;
  note(text: string): void;
};

/** Reads the records of one service; both functions throw a refusal for a record that can't be taken. */
export type ImportFormat = {
  name: string;
  fields: FieldList;
  /** Undefined for a record that is no link; several where one record has several addresses. */
  linksOf(record: Fields, context: ImportContext): readonly ImportedLink[] | undefined;
  /** From the links' file too, where that has both. */
  clicksOf(record: Fields, context: ImportContext): readonly ImportedClick[];
  /** Its times may be those of where it runs. */
  hasLocalTimes?: true;
  /** Without `clicks`, they come in the file of the links. */
  columns: { links: Columns; clicks?: Columns };
};
