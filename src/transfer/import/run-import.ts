// `linkledger import`: reads the files of another service record by record, and says of each that fails why.
import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { cleanText } from "../../events/classification/clean-text.ts";
import { newEvent } from "../../events/new-event.ts";
import { type TimeZone, UTC } from "../../queries/analytics/time-zone.ts";
import { visitorCodes } from "../../redirect/clicks/visitors/visitor.ts";
import { DomainError } from "../../runtime/errors.ts";
import { Refused } from "../../runtime/refused.ts";
import { StoreUnavailable } from "../../stores/connections/errors.ts";
import { RevisionConflict } from "../../stores/event-store/port.ts";
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
import type {
  Columns,
  Fields,
  ImportedClick,
  ImportedLink,
  ImportFormat,
  LinkReference,
} from "./imported.ts";
import { type Reading, type Row, type RowOrError, readRows } from "./read-rows.ts";

/** `clicks`: a file of their own. `encoding`: as of readRows. `zone`: of times without an offset. */
type ImportFiles = {
  format: ImportFormat;
  links: string;
  clicks: string | undefined;
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
  const { format, links, clicks, encoding } = files;
  const { columns } = format;
  const names = namesOf(format);
  const wanted = [{ file: links, columns: columns.links, hasLinks: true, hasClicks: !columns.clicks }];
  if (clicks !== undefined && columns.clicks)
    wanted.push({ file: clicks, columns: columns.clicks, hasLinks: false, hasClicks: true });
  for (const { file, columns } of wanted) await refuseOtherFile(file, columns, { names, encoding });
  const sizes = await Promise.all(wanted.map(async ({ file }) => (await stat(file)).size));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const { take, end } = importing(deps, target, files);
  let [bytesBefore, bytes, count] = [0, 0, 0];
  const onBytes = (read: number) => {
    bytes = bytesBefore + read;
  };
  for (const [n, { file, ...has }] of wanted.entries()) {
    for await (const row of readRows(file, { names, encoding, onBytes })) {
      if (signal.aborted) return { ...(await end()), interrupted: true };
      await take(file, row, has);
      count += 1;
      onProgress(bytes, total, count);
      // SQLite and rows in memory leave no turn to signals.
      if (count % ROWS_A_TURN === 0) await setImmediate();
    }
    bytesBefore += sizes[n] ?? 0;
  }
  return await end();
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
async function refuseOtherFile(file: string, needed: Columns, reading: Reading): Promise<void> {
  for await (const row of readRows(file, reading)) {
    if ("error" in row) continue;
    refuseOther(file, row, needed);
    return;
  }
}

function refuseOther(file: string, row: Row, needed: Columns): void {
  const names = row.columns ?? Object.keys(row.record);
  const isThere = (one: Columns[number]) => one.some((name) => names.includes(name));
  if (row.columns ? needed.every(isThere) : needed.some(isThere)) return;
  const expected = needed.map((one) => one.join(" or ")).join(", and ");
  const found = cleanText(names.join(", "), MESSAGE_LENGTH) || "none";
  const what = row.columns ? "columns" : "members";
  const why = `${file} is of another format: expected the ${what} ${expected}; found ${found}`;
  throw new Refused("wrong_format", why);
}

function importing(
  deps: ImportLinkDeps,
  target: ImportTarget,
  { format, clicks: clicksFile, zone: given }: ImportFiles,
) {
  const withClicks = clicksFile !== undefined;
  const zone = given ?? (format.hasLocalTimes ? undefined : UTC);
  // Records; one that can't be read counts as what its file holds. `read`: the sum of the others of links.
  const links = { read: 0, created: 0, already: 0, failed: 0 };
  // `skipped`: of links that failed, or that the file doesn't hold. `only_totals`: counted by the other service, without
  // details: they can't become events.
  const clicks = { read: 0, created: 0, already: 0, failed: 0, skipped: 0, only_totals: 0 };
  const fields = fieldCounts(format.fields);
  /** Links by the host that they are on now. */
  const hosts: Record<string, number> = {};
  /** The first MOST_ERRORS. */
  const errors: { file: string; place: string; error: string }[] = [];
  /** What a link that was created lost; the first MOST_ERRORS. */
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
  async function take(
    file: string,
    { place, ...row }: RowOrError,
    { hasLinks, hasClicks }: { hasLinks: boolean; hasClicks: boolean },
  ): Promise<void> {
    const reported = { file, place };
    const context = contextOf(reported);
    const counts = hasLinks ? links : clicks;
    const rows = "error" in row ? row.rows : 1;
    const found = await attempt(counts, reported, rows, async () => {
      if ("error" in row) throw row.error;
      return { record: row.record, links: hasLinks ? linksIn(row.record, context) : undefined };
    });
    if (!found) return;
    for (const link of found.links ?? []) await attempt(links, reported, 1, () => takeLink(link, reported));
    if (found.links || !hasClicks) return;
    const made = await attempt(clicks, reported, 1, async () => format.clicksOf(found.record, context));
    for (const click of made ?? []) await attempt(clicks, reported, 1, () => takeClick(click));
  }

  function contextOf(reported: { file: string; place: string }) {
    const note = (text: string) => {
      if (notes.length < MOST_ERRORS) notes.push({ ...reported, note: cleanText(text, MESSAGE_LENGTH) });
    };
    return { now: deps.clock(), withClicks, zone, note };
  }

  function linksIn(
    record: Fields,
    context: Parameters<ImportFormat["linksOf"]>[1],
  ): readonly ImportedLink[] | undefined {
    const found = format.linksOf(record, context);
    if (found) fields.add(record);
    return found;
  }

  /**
   * Reports what is wrong with one record, or with its link's stream; an append or a read that fails ends the
   * import. `rows`: how many records fail with it.
   */
  async function attempt<T>(
    counts: { read: number; failed: number },
    reported: { file: string; place: string },
    rows: number,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error instanceof StoreUnavailable || error instanceof RevisionConflict) throw error;
      counts.read += rows;
      counts.failed += rows;
      if (errors.length < MOST_ERRORS)
        errors.push({ ...reported, error: cleanText(error.message, MESSAGE_LENGTH) });
      return undefined;
    }
  }

  async function takeLink(imported: ImportedLink, reported: { file: string; place: string }): Promise<void> {
    const { link, already, shortened } = await importLink(deps, target, format.name, claimed, imported);
    links.read += 1;
    links[already ? "already" : "created"] += 1;
    hosts[link.host] = (hosts[link.host] ?? 0) + 1;
    for (const field of shortened)
      if (notes.length < MOST_ERRORS) notes.push({ ...reported, note: `${field} shortened` });
    const one = { link, total: imported.totalClicks ?? 0, details: 0 };
    if (imported.slug !== undefined)
      known.set(referenceKey({ domain: imported.domain, slug: imported.slug }), one);
    else known.set(link.key, one);
    if (imported.id !== undefined) known.set(referenceKey({ id: imported.id }), one);
  }

  async function takeClick(click: ImportedClick): Promise<void> {
    const one = known.get(referenceKey(click.link));
    if (!one) {
      clicks.read += 1;
      clicks.skipped += 1;
      return;
    }
    const { key, accountId } = one.link;
    const event = dataOf(one.link, click.facts);
    const { at } = event.data;
    const identity = `${key} ${at} ${"id" in click ? click.id : click.traits}`;
    const n = "id" in click ? 0 : (repeated.get(identity) ?? 0);
    repeated.set(identity, n + 1);
    const id = derivedTimeId(at, "click", accountId, identity, n);
    const { requestId, actor } = target.context;
    await appender.put(newEvent(event, id, { correlationId: requestId, causationId: id, actor }), at);
    clicks.read += 1;
    one.details += 1;
  }

  async function end() {
    await appender.flush();
    Object.assign(clicks, appender.counts);
    for (const { total, details } of new Set(known.values()))
      clicks.only_totals += Math.max(0, total - details);
    return { links, clicks, hosts, fields: fields.counts, notes, errors };
  }

  return { take, end };
}

function referenceKey(reference: LinkReference): string {
  if ("slug" in reference) return `slug ${reference.domain ?? ""}/${reference.slug}`;
  return `id ${reference.id}`;
}
