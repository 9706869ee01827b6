// Hits of links and of accounts by UTC day, hour and kind, for hourlyClicks and time series.
import type { LinkClicked } from "../../events/catalogue.ts";
import { PREFIX } from "../../events/streams.ts";
import { CLICK_KINDS } from "../../events/vocabulary.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";

/** Counts in the order of CLICK_KINDS. */
export type HitsByKind = [click: number, preview: number, qrScan: number];

/** `_id`: `<subject>@YYYY-MM-DD`. `hours`: two digits, UTC; only those with a hit, so at most 24. */
export type DayDocument = Document & { subject: string; day: string; hours: Record<string, HitsByKind> };

/** `at`: any instant of the day, ISO 8601 UTC. */
export function dayOf(subject: string, at: string): string {
  return `${subject}@${at.slice(0, 10)}`;
}

/** One document for each day on which the subject, such as a link, was hit. */
function hitsByDay(name: string, subjectOf: (click: LinkClicked["data"]) => string): Projection<DayDocument> {
  return {
    name,
    version: 1,
    collection: { name, indexes: [] },
    prefixes: [PREFIX.clicks],
    handles: ["LinkClicked"],
    key(event) {
      const click = event.data as LinkClicked["data"];
      return dayOf(subjectOf(click), click.at);
    },
    empty(event) {
      const click = event.data as LinkClicked["data"];
      return { subject: subjectOf(click), day: click.at.slice(0, 10), hours: {} };
    },
    evolve(day, event) {
      if (event.type !== "LinkClicked") return day;
      const hour = event.data.at.slice(11, 13);
      const hits = day.hours[hour] ?? [0, 0, 0];
      const kind = CLICK_KINDS.indexOf(event.data.kind) as 0 | 1 | 2;
      hits[kind] += 1;
      day.hours[hour] = hits;
      return day;
    },
  };
}

/** Subject: link key. */
export const linkDays = hitsByDay("link-days", ({ link }) => link);

/** Subject: accountId, over all of its links, for the chart of the dashboard. */
export const accountDays = hitsByDay("account-days", ({ accountId }) => accountId);
