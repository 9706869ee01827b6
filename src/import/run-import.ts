// `linkledger import`: reads the files of another service record by record, and says of each that fails why.
import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { cleanText } from "../classification/clean-text.ts";
import { StoreUnavailable } from "../connections/errors.ts";
import { newEvent } from "../events/new-event.ts";
import { visitorCodes } from "../redirect/clicks/visitors/visitor.ts";
import { DomainError } from "../runtime/errors.ts";
import { Refused } from "../runtime/refused.ts";
import { type ClickAppender, clickAppender } from "./append-clicks.ts";
import { type ClickDataOf, clickDataOf } from "./click-data.ts";
import {
  type ClaimedLinks,
  derivedTimeId,
  type ImportLinkDeps,
  type ImportTarget,
  importLink,
  type TargetLink,
} from "./import-link.ts";
import type { Columns, ImportedClick, ImportFormat, LinkReference, Row } from "./imported.ts";
import { type RowOrError, readRows } from "./read-rows.ts";

export type ImportFiles = {
  format: ImportFormat;
  links: string;
  /** A file of clicks of its own. */
  clicks: string | undefined;
};

/**
 * `failed`: records; one that can't be read counts as what its file holds. `skipped`: clicks of links that failed, or
 * that the file doesn't hold.
 */
export type ImportReport = {
  links: { read: number; created: number; already: number; failed: number };
  clicks: {
    read: number;
    created: number;
    already: number;
    failed: number;
    skipped: number;
    /** Counted by the other service, without details: they can't become events. */
    only_totals: number;
  };
  /** Links by the host that they are on now. */
  hosts: Record<string, number>;
  /** The first MOST_ERRORS. */
  errors: { file: string; place: string; error: string }[];
  /** Whether it was ended before the end of its files. */
  interrupted?: true;
};

const MOST_ERRORS = 1_000;
/** Messages may quote the file, and are printed on terminals. */
const MESSAGE_LENGTH = 500;
/** Clicks that are the same in all that is known of them are told apart by their number, as far as these are kept. */
const REPEATED = 100_000;
const DAYS_WITH_SALT = 64;

type Progress = (records: number, total: number) => void;

/**
 * A repeated import of the same, or of a later, export creates what is missing, also after one that `signal` has ended.
 * @throws wrong_format before anything is written; StoreUnavailable
 */
export async function runImport(
  deps: ImportLinkDeps,
  target: ImportTarget,
  { format, links, clicks }: ImportFiles,
  onProgress: Progress = () => undefined,
  signal: AbortSignal = new AbortController().signal,
): Promise<ImportReport> {
  const run = new ImportRun(deps, target, format);
  const { columns } = format;
  const files = [{ file: links, hasLinks: true, hasClicks: !columns.clicks }];
  let total = await countRecords(links, columns.links);
  if (clicks !== undefined && columns.clicks) {
    total += await countRecords(clicks, columns.clicks);
    files.push({ file: clicks, hasLinks: false, hasClicks: true });
  }
  for (const { file, ...has } of files)
    for await (const row of readRows(file)) {
      if (signal.aborted) return { ...(await run.end()), interrupted: true };
      await run.take(file, row, has);
      onProgress(run.rows, total);
    }
  return await run.end();
}

/**
 * A line of columns must name all that is needed. Records of JSON may each lack something: the first one that can be read is
 * refused only where it has nothing of what is needed. @throws wrong_format
 */
async function countRecords(file: string, needed: Columns): Promise<number> {
  let count = 0;
  let isKnown = false;
  for await (const row of readRows(file)) {
    count += 1;
    if (isKnown || "error" in row) continue;
    refuseOther(file, row, needed);
    isKnown = true;
  }
  return count;
}

function refuseOther(file: string, row: Row, needed: Columns): void {
  const names = row.columns ?? Object.keys(row.value);
  const isThere = (one: Columns[number]) => one.some((name) => names.includes(name));
  if (row.columns ? needed.every(isThere) : needed.some(isThere)) return;
  const expected = needed.map((one) => one.join(" or ")).join(", and ");
  const found = cleanText(names.join(", "), MESSAGE_LENGTH) || "none";
  const what = row.columns ? "columns" : "members";
  throw new Refused(
    "wrong_format",
    `${file} is of another format: expected the ${what} ${expected}; found ${found}`,
  );
}

/** One import while it runs: what it has counted, and where the links went. */
class ImportRun {
  readonly #deps: ImportLinkDeps;
  readonly #target: ImportTarget;
  readonly #format: ImportFormat;
  readonly #appender: ClickAppender;
  readonly #dataOf: ClickDataOf;
  readonly #claimed: ClaimedLinks = new Map();
  readonly #links = new Map<string, { link: TargetLink; total: number; details: number }>();
  readonly #repeated = new LRUCache<string, number>({ max: REPEATED });
  readonly #report: ImportReport = {
    links: { read: 0, created: 0, already: 0, failed: 0 },
    clicks: { read: 0, created: 0, already: 0, failed: 0, skipped: 0, only_totals: 0 },
    hosts: {},
    errors: [],
  };
  rows = 0;

  constructor(deps: ImportLinkDeps, target: ImportTarget, format: ImportFormat) {
    this.#deps = deps;
    this.#target = target;
    this.#format = format;
    this.#appender = clickAppender(deps, target.account.accountId, target.dryRun);
    const salts = new LRUCache<string, ReturnType<typeof visitorCodes>>({
      max: DAYS_WITH_SALT,
      memoMethod: () => visitorCodes(randomBytes(32)),
    });
    this.#dataOf = clickDataOf({ clock: deps.clock, visitorOf: (at) => salts.memo(at.slice(0, 10)) });
  }

  async take(file: string, row: RowOrError, has: { hasLinks: boolean; hasClicks: boolean }): Promise<void> {
    this.rows += 1;
    const { links, clicks } = this.#report;
    if ("error" in row) {
      this.#failed(has.hasLinks ? links : clicks, file, row.place, row.error);
      return;
    }
    const isLink = has.hasLinks && (await this.#attempt(file, row.place, links, () => this.#takeLink(row)));
    if (!isLink && has.hasClicks)
      await this.#attempt(file, row.place, clicks, async () => {
        for (const click of this.#format.clicksOf(row)) await this.#takeClick(click);
      });
  }

  #failed(counts: { failed: number }, file: string, place: string, error: Error): void {
    counts.failed += 1;
    if (this.#report.errors.length < MOST_ERRORS)
      this.#report.errors.push({ file, place, error: cleanText(error.message, MESSAGE_LENGTH) });
  }

  async end(): Promise<ImportReport> {
    await this.#appender.flush();
    const { clicks } = this.#report;
    Object.assign(clicks, this.#appender.counts);
    for (const { total, details } of new Set(this.#links.values()))
      clicks.only_totals += Math.max(0, total - details);
    return this.#report;
  }

  /** Refusals of one record are reported; a store that is unavailable ends the import. */
  async #attempt<T>(
    file: string,
    place: string,
    counts: { failed: number },
    work: () => Promise<T>,
  ): Promise<T | true> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DomainError) || error instanceof StoreUnavailable) throw error;
      this.#failed(counts, file, place, error);
      return true;
    }
  }

  /** False when the record is no link. */
  async #takeLink(row: Row): Promise<boolean> {
    const { links, hosts } = this.#report;
    const imported = this.#format.linkOf(row, this.#deps.clock());
    if (!imported) return false;
    links.read += 1;
    const { link, already } = await importLink(this.#deps, this.#target, this.#claimed, imported);
    links[already ? "already" : "created"] += 1;
    hosts[link.host] = (hosts[link.host] ?? 0) + 1;
    const known = { link, total: imported.totalClicks ?? 0, details: 0 };
    this.#links.set(referenceKey(imported), known);
    if (imported.id !== undefined) this.#links.set(referenceKey({ id: imported.id }), known);
    return true;
  }

  async #takeClick(click: ImportedClick): Promise<void> {
    const { clicks } = this.#report;
    clicks.read += 1;
    const known = this.#links.get(referenceKey(click.link));
    if (!known) {
      clicks.skipped += 1;
      return;
    }
    const event = this.#dataOf(known.link, click.facts);
    const { at } = event.data;
    const identity = `${known.link.key} ${at} ${click.identity}`;
    const n = click.isId ? 0 : (this.#repeated.get(identity) ?? 0);
    this.#repeated.set(identity, n + 1);
    const id = derivedTimeId(at, "click", known.link.accountId, identity, n);
    const origin = { correlationId: this.#target.context.requestId, causationId: id };
    await this.#appender.put(newEvent(event, id, { ...origin, actor: this.#target.context.actor }), at);
    known.details += 1;
  }
}

function referenceKey(reference: LinkReference): string {
  if ("slug" in reference) return `slug ${reference.domain ?? ""}/${reference.slug}`;
  return `id ${reference.id}`;
}
