// What becomes of the rows of an import: links, their clicks, and a report of both.
import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { verifiedHosts } from "../../commands/domains/decide-domain.ts";
import { safetyOfAll } from "../../commands/links/accept-url.ts";
import { cleanText } from "../../events/classification/clean-text.ts";
import { newEvent } from "../../events/new-event.ts";
import type { TimeZone } from "../../queries/analytics/time-zone.ts";
import { visitorCodes } from "../../redirect/clicks/visitors/visitor.ts";
import { hostName } from "../../runtime/addresses/host-name.ts";
import { entriesBound } from "../../runtime/entries-bound.ts";
import { DomainError } from "../../runtime/errors.ts";
import { StoreUnavailable } from "../../stores/connections/errors.ts";
import { type Position, RevisionConflict } from "../../stores/event-store/port.ts";
import { clickAppender } from "./append-imported.ts";
import { clickDataOf } from "./click-data.ts";
import { fieldCounts } from "./field-counts.ts";
import { importLink } from "./import-link.ts";
import type { Part } from "./import-parts.ts";
import type { ImportedClick, ImportedFields, ImportedLink, ImportFormat, LinkReference } from "./imported.ts";
import {
  type ClaimedLinks,
  derivedTimeId,
  type ImportLinkDeps,
  type ImportTarget,
  type TargetLink,
} from "./place-imported.ts";
import type { RowOrError } from "./reading/row.ts";

/**
 * What became of a record of links, or why it failed. `rows`: how many it stands for. `position`: of what was appended.
 */
export type ImportedRow = { place: string; rows: number } & (
  | {
      outcome: "created" | "already";
      link: TargetLink;
      longUrl: string;
      title: string | undefined;
      position?: Position | undefined;
    }
  | { outcome: "failed"; error: string }
);

/** `withClicks`: clicks follow. `zone`: of times without an offset. `onRow`: hears of each link, in their order. */
type RowOptions = {
  format: ImportFormat;
  withClicks: boolean;
  zone: TimeZone | undefined;
  onRow: ((row: ImportedRow) => void) | undefined;
};

const MOST_ERRORS = 1_000;
/** Messages may quote the file, and are printed on terminals. */
const MESSAGE_LENGTH = 500;
/** Clicks that are the same in all that is known of them are told apart by their number, as far as these are kept. */
const REPEATED = 100_000;
const DAYS_WITH_SALT = 64;

/** Links of the file, by what its clicks call them. `details`: clicks that were taken. */
type KnownLink = { link: TargetLink; total: number; details: number };

/** `take`: to be called for all rows of links before those of clicks. `end`: reports what became of them. */
export function rowTaker(
  deps: ImportLinkDeps,
  target: ImportTarget,
  { format, withClicks, zone, onRow = () => undefined }: RowOptions,
) {
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
  const byReference = new Map<string, KnownLink>();
  const repeated = new LRUCache<string, number>(entriesBound(REPEATED));
  const salts = new LRUCache<string, ReturnType<typeof visitorCodes>>({
    max: DAYS_WITH_SALT,
    memoMethod: () => visitorCodes(randomBytes(32)),
  });
  const dataOf = clickDataOf({ clock: deps.clock, visitorOf: (at) => salts.memo(at.slice(0, 10)) });
  const appender = clickAppender(deps, target.account.accountId, target.dryRun);

  /** Yields after each row. A link that is refused doesn't stop the others of its record. */
  async function* take(part: Part, rows: readonly RowOrError[]): AsyncGenerator<void> {
    const { source, hasLinks, hasClicks } = part;
    const all = rows.map((row) => read(part, row));
    const urls = all.flatMap(({ importedLinks = [] }) => importedLinks.flatMap(urlsOfImported));
    const urlSafety = await safetyOfAll(deps, urls, verifiedHosts(target.account));
    for (const { row, importedLinks, context, ...failed } of all) {
      const attempt = attemptOf({ file: source.name, place: row.place });
      for (const link of importedLinks ?? [])
        await attempt(links, () => takeLink({ ...deps, urlSafety }, link, row.place, context.note));
      if ("error" in failed) {
        const refuse = () => Promise.reject(failed.error);
        await attempt(hasLinks ? links : clicks, refuse, "error" in row ? row.rows : 1);
      } else if (hasClicks && importedLinks === undefined && "record" in row) {
        const ofRow = await attempt(clicks, async () => format.clicksOf(row.record, context));
        for (const click of ofRow ?? []) await attempt(clicks, () => takeClick(click));
      }
      yield;
    }
  }

  /** `importedLinks`: the links that the row is; undefined for one of clicks, and beside the error of one that is refused. */
  function read({ source, hasLinks }: Part, row: RowOrError) {
    const at = { file: source.name, place: row.place };
    const note = (text: string) => void noted(notes, { ...at, note: cleanText(text, MESSAGE_LENGTH) });
    const context = { now: deps.clock(), withClicks, zone, note };
    if ("error" in row) return { row, context, importedLinks: undefined, error: row.error };
    try {
      const importedLinks = hasLinks ? format.linksOf(row.record, context) : undefined;
      if (importedLinks) fields.add(row.record);
      return { row, context, importedLinks };
    } catch (error) {
      return { row, context, importedLinks: undefined, error };
    }
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
    deps: ImportLinkDeps,
    imported: ImportedLink,
    place: string,
    note: (text: string) => void,
  ): Promise<void> {
    const named = { ...imported, domain: hostOf(imported.domain) };
    const { link, already, shortened, position } = await importLink(
      deps,
      target,
      format.name,
      claimed,
      named,
    );
    const outcome = already ? "already" : "created";
    links[outcome] += 1;
    const { longUrl, fields: { title } = {} } = imported;
    onRow({ place, rows: 1, outcome, link, longUrl, title: title ?? undefined, position });
    hosts[link.host] = (hosts[link.host] ?? 0) + 1;
    for (const field of shortened) note(`${field} shortened`);
    const { slug, domain, id, totalClicks: total = 0 } = named;
    const entry = { link, total, details: 0 };
    byReference.set(slug === undefined ? link.key : referenceKey({ domain, slug }), entry);
    if (id !== undefined) byReference.set(referenceKey({ id }), entry);
  }

  async function takeClick(click: ImportedClick): Promise<void> {
    const entry = byReference.get(referenceKey(click.link));
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

  /**
   * `read`: the sum of what became of the rows. `only_totals`: clicks that the other service counted, without details.
   * `missing`: what its files say that they don't hold.
   */
  async function end(parts: readonly Part[]) {
    await appender.flush();
    const missing = parts.flatMap(({ source: { name }, hasLinks, pages }) => {
      const note = pages.missing(hasLinks ? "links" : "clicks");
      return note === undefined ? [] : [{ file: name, note }];
    });
    const of = { ...appender.counts, ...clicks };
    let only_totals = 0;
    for (const { total, details } of new Set(byReference.values()))
      only_totals += Math.max(0, total - details);
    return {
      links: { read: links.created + links.already + links.failed, ...links },
      clicks: { read: of.created + of.already + of.failed + of.skipped, ...of, only_totals },
      hosts,
      fields: fields.counts,
      notes,
      missing,
      errors,
    };
  }

  return { take, end };
}

/** Destinations that it has, or had. What is no text is refused later. */
function urlsOfImported({ longUrl, fields, changes = [] }: ImportedLink): string[] {
  const carried = [
    fields,
    ...changes.map(({ change }) => (change.type === "set" ? change.fields : undefined)),
  ];
  const later = changes.map(({ change }) => (change.type === "retarget" ? change.to : undefined));
  const urls = carried.flatMap(({ expired_url, rules }: ImportedFields = {}) => [
    expired_url,
    ...(Array.isArray(rules) ? rules.map((rule) => rule?.url) : []),
  ]);
  return [longUrl, ...later, ...urls].filter((url) => typeof url === "string");
}

/** The first MOST_ERRORS. */
function noted<T>(list: T[], entry: T): void {
  if (list.length < MOST_ERRORS) list.push(entry);
}

/** As hosts are compared; what is none is left, to be refused as no domain of the account. */
function hostOf(written: string | undefined): string | undefined {
  return written && (hostName(written) || written);
}

function referenceKey(reference: LinkReference): string {
  if ("slug" in reference) return `slug ${hostOf(reference.domain) ?? ""}/${reference.slug}`;
  return `id ${reference.id}`;
}
