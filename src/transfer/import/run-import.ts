// `linkledger import`, and lists that are pasted in the portal: reads what another service or a person wrote record by record,
// and says of each that fails why.
import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { cleanText } from "../../events/classification/clean-text.ts";
import { newEvent } from "../../events/new-event.ts";
import { type TimeZone, UTC } from "../../queries/analytics/time-zone.ts";
import { visitorCodes } from "../../redirect/clicks/visitors/visitor.ts";
import { DomainError } from "../../runtime/errors.ts";
import { Refused } from "../../runtime/refused.ts";
import { StoreUnavailable } from "../../stores/connections/errors.ts";
import { type Position, RevisionConflict } from "../../stores/event-store/port.ts";
import { clickAppender } from "./append-clicks.ts";
import { clickDataOf } from "./click-data.ts";
import { fieldCounts } from "./field-counts.ts";
import {
  type ClaimedLinks,
  derivedTimeId,
  type ImportLinkDeps,
  type ImportTarget,
  importLink,
  type TargetLink,
} from "./import-link.ts";
import type { Columns, ImportedClick, ImportedLink, ImportFormat, LinkReference } from "./imported.ts";
import type { Source } from "./lines.ts";
import { type Reading, type Row, type RowOrError, readRows } from "./read-rows.ts";

/**
 * What became of a record of links, or why it failed. `rows`: how many it stands for. `position`: of what was appended.
 */
export type ImportedRow = { place: string; rows: number } & (
  | { outcome: "created" | "already"; link: TargetLink; longUrl: string; position?: Position | undefined }
  | { outcome: "failed"; error: string }
);

/**
 * `clicks`: a file of their own. `encoding`: as of readRows. `zone`: of times without an offset. `onRow`: hears of each link, in
 * their order.
 */
type ImportFiles = {
  format: ImportFormat;
  links: Source;
  clicks: Source | undefined;
  onRow?: (row: ImportedRow) => void;
  encoding?: string | undefined;
  zone?: TimeZone | undefined;
};

/** `interrupted`: it was ended before the end of its files. */
export type ImportReport = Awaited<ReturnType<ReturnType<typeof importing>["end"]>> & { interrupted?: true };

const MOST_ERRORS = 1_000;
/** Messages may quote the file, and are printed on terminals. */
const MESSAGE_LENGTH = 500;
/** Clicks that are the same in all that is known of them are told apart by their number, as far as these are kept. */
const REPEATED = 100_000;
const DAYS_WITH_SALT = 64;
const ROWS_A_TURN = 20;

/** Links of the file, by what its clicks call them. `details`: clicks that were taken. */
type KnownLink = { link: TargetLink; total: number; details: number };

/**
 * A repeated import of the same, or of a later, export creates what is missing, also after one that `signal` has ended.
 * @throws wrong_format before anything is written; StoreUnavailable; RevisionConflict beside other imports of the
 * account
 */
export async function runImport(
  deps: ImportLinkDeps,
  target: ImportTarget,
  files: ImportFiles,
  onProgress: (bytes: number, total: number, records: number) => void = () => undefined,
  signal: AbortSignal = new AbortController().signal,
): Promise<ImportReport> {
  const { format, encoding } = files;
  const names = namesOf(format);
  const parts = partsOf(files);
  for (const { source, needed } of parts) await refuseOtherFile(source, needed, { names, encoding });
  const sizes = await Promise.all(parts.map(({ source }) => source.size()));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const { take, end } = importing(deps, target, files);
  let [bytesBefore, count] = [0, 0];
  for (const [n, part] of parts.entries()) {
    let bytes = 0;
    const onBytes = (read: number) => {
      bytes = read;
    };
    for await (const row of readRows(part.source, { names, encoding, onBytes })) {
      if (signal.aborted) return { ...(await end()), interrupted: true };
      await take(part, row);
      count += 1;
      onProgress(bytesBefore + bytes, total, count);
      // SQLite and rows in memory leave no turn to signals.
      if (count % ROWS_A_TURN === 0) await setImmediate();
    }
    bytesBefore += sizes[n] ?? 0;
  }
  return await end();
}

/** One of the files, in the order in which they are read. */
type Part = { source: Source; needed: Columns; hasLinks: boolean; hasClicks: boolean };

function partsOf({ format: { columns }, links, clicks }: ImportFiles): Part[] {
  const ofLinks = { source: links, needed: columns.links, hasLinks: true, hasClicks: !columns.clicks };
  if (clicks === undefined || !columns.clicks) return [ofLinks];
  return [ofLinks, { source: clicks, needed: columns.clicks, hasLinks: false, hasClicks: true }];
}

/** Names of fields in the format's files. */
function namesOf({ fields, columns }: ImportFormat): string[] {
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
 * A line of columns must name all that is needed. Records of JSON may each lack something: the first one that can be read is
 * refused only where it has nothing of what is needed. @throws wrong_format
 */
async function refuseOtherFile(source: Source, needed: Columns, reading: Reading): Promise<void> {
  for await (const row of readRows(source, reading)) {
    if ("error" in row) continue;
    refuseOther(source.name, row, needed);
    return;
  }
}

function refuseOther(file: string, row: Row, needed: Columns): void {
  const names = row.columns ?? Object.keys(row.record);
  const isThere = (column: Columns[number]) => column.some((name) => names.includes(name));
  if (row.columns ? needed.every(isThere) : needed.some(isThere)) return;
  const expected = needed.map((column) => column.join(" or ")).join(", and ");
  const present = cleanText(names.join(", "), MESSAGE_LENGTH) || "none";
  const what = row.columns ? "columns" : "members";
  const why = `${file} is of another format: expected the ${what} ${expected}; found ${present}`;
  throw new Refused("wrong_format", why);
}

function importing(
  deps: ImportLinkDeps,
  target: ImportTarget,
  { format, clicks: clicksFile, zone: named, onRow = () => undefined }: ImportFiles,
) {
  const withClicks = clicksFile !== undefined;
  const zone = named ?? (format.hasLocalTimes ? undefined : UTC);
  // Rows; what can't be read counts as what its file holds.
  const links = { created: 0, already: 0, failed: 0 };
  // `skipped`: of links that failed, or that the file doesn't hold.
  const clicks = { failed: 0, skipped: 0 };
  const fields = fieldCounts(format.fields);
  /** Links by the host that they are on now. */
  const hosts: Record<string, number> = {};
  const errors: { file: string; place: string; error: string }[] = [];
  /** What a link that was created lost. */
  const notes: { file: string; place: string; note: string }[] = [];
  const claimed: ClaimedLinks = { links: new Map(), externalIds: new Map() };
  const known = new Map<string, KnownLink>();
  const repeated = new LRUCache<string, number>({ max: REPEATED });
  const salts = new LRUCache<string, ReturnType<typeof visitorCodes>>({
    max: DAYS_WITH_SALT,
    memoMethod: () => visitorCodes(randomBytes(32)),
  });
  const dataOf = clickDataOf({ clock: deps.clock, visitorOf: (at) => salts.memo(at.slice(0, 10)) });
  const appender = clickAppender(deps, target.account.accountId, target.dryRun);

  /** A link that is refused doesn't stop the others of its record. */
  async function take({ source, hasLinks, hasClicks }: Part, { place, ...row }: RowOrError): Promise<void> {
    const at = { file: source.name, place };
    const note = (text: string) => void noted(notes, { ...at, note: cleanText(text, MESSAGE_LENGTH) });
    const context = { now: deps.clock(), withClicks, zone, note };
    const attempt = attemptOf(at);
    const read = await attempt(
      hasLinks ? links : clicks,
      async () => {
        if ("error" in row) throw row.error;
        const made = hasLinks ? format.linksOf(row.record, context) : undefined;
        if (made) fields.add(row.record);
        return { record: row.record, links: made };
      },
      "error" in row ? row.rows : 1,
    );
    for (const link of read?.links ?? []) await attempt(links, () => takeLink(link, place, note));
    if (!read || read.links || !hasClicks) return;
    const made = await attempt(clicks, async () => format.clicksOf(read.record, context));
    for (const click of made ?? []) await attempt(clicks, () => takeClick(click));
  }

  /**
   * Counts what is wrong with one record, or with its link's stream, as failed, and goes on; an append or a read that fails
   * ends the import. `rows`: how many fail with it.
   */
  function attemptOf(at: { file: string; place: string }) {
    return async <T>(
      counts: { failed: number },
      work: () => Promise<T>,
      rows = 1,
    ): Promise<T | undefined> => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        if (error instanceof StoreUnavailable || error instanceof RevisionConflict) throw error;
        counts.failed += rows;
        const reason = cleanText(error.message, MESSAGE_LENGTH);
        noted(errors, { ...at, error: reason });
        if (counts === links) onRow({ place: at.place, rows, outcome: "failed", error: reason });
        return undefined;
      }
    };
  }

  async function takeLink(
    imported: ImportedLink,
    place: string,
    note: (text: string) => void,
  ): Promise<void> {
    const made = await importLink(deps, target, format.name, claimed, imported);
    const { link, already, shortened, position } = made;
    const outcome = already ? "already" : "created";
    links[outcome] += 1;
    onRow({ place, rows: 1, outcome, link, longUrl: imported.longUrl, position });
    hosts[link.host] = (hosts[link.host] ?? 0) + 1;
    for (const field of shortened) note(`${field} shortened`);
    const { slug, domain, id, totalClicks: total = 0 } = imported;
    const entry = { link, total, details: 0 };
    known.set(slug === undefined ? link.key : referenceKey({ domain, slug }), entry);
    if (id !== undefined) known.set(referenceKey({ id }), entry);
  }

  async function takeClick(click: ImportedClick): Promise<void> {
    const entry = known.get(referenceKey(click.link));
    if (!entry) {
      clicks.skipped += 1;
      return;
    }
    const { key, accountId } = entry.link;
    const event = dataOf(entry.link, click.facts);
    const { at } = event.data;
    const identity = `${key} ${at} ${"id" in click ? click.id : click.traits}`;
    const n = "id" in click ? 0 : (repeated.get(identity) ?? 0);
    repeated.set(identity, n + 1);
    const id = derivedTimeId(at, "click", accountId, identity, n);
    const { requestId, actor } = target.context;
    await appender.put(newEvent(event, id, { correlationId: requestId, causationId: id, actor }), at);
    entry.details += 1;
  }

  /** `read`: the sum of what became of the rows. `only_totals`: clicks that the other service counted, without details. */
  async function end() {
    await appender.flush();
    const of = { ...appender.counts, ...clicks };
    let only_totals = 0;
    for (const { total, details } of new Set(known.values())) only_totals += Math.max(0, total - details);
    return {
      links: { read: links.created + links.already + links.failed, ...links },
      clicks: { read: of.created + of.already + of.failed + of.skipped, ...of, only_totals },
      hosts,
      fields: fields.counts,
      notes,
      errors,
    };
  }

  return { take, end };
}

/** The first MOST_ERRORS. */
function noted<T>(list: T[], entry: T): void {
  if (list.length < MOST_ERRORS) list.push(entry);
}

function referenceKey(reference: LinkReference): string {
  if ("slug" in reference) return `slug ${reference.domain ?? ""}/${reference.slug}`;
  return `id ${reference.id}`;
}
