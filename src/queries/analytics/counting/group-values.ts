// What a click counts as in each field that clicks are grouped and filtered by: by a column of its table, or by its local time.
import { folded } from "../../../events/links/search-text.ts";
import type { ColumnName } from "../../../projections/definitions/click-tables/columns.ts";
import { hostOfLink } from "../../../projections/definitions/summaries/sum-account.ts";
import { bounded } from "../../../projections/definitions/summaries/tally.ts";
import { hostName } from "../../../runtime/addresses/host-name.ts";
import type { GroupBy } from "../question.ts";
import { DAY_MS, HOUR_MS, type TimeZone } from "../time-zone.ts";

/** 1970-01-01 was a Thursday. */
const THURSDAY = 4;

type LocalField = "hour" | "day" | "weekday" | "weekday_hour";

/** The column whose text decides; undefined for fields of local times. */
export function columnOf(field: GroupBy): ColumnName | undefined {
  if (field in LOCAL) return undefined;
  if (field === "tag" || field === "domain") return "link";
  return field === "kind" ? "judged" : (field as ColumnName);
}

/** `tags`: that the links have now, by their keys. */
export type TagsOf = (link: string) => readonly string[];

/** What a text of the field's column counts as: nothing for "", which is that of a click without utm or rule. */
export function valuesOf(field: GroupBy, text: string, tagsOf: TagsOf): readonly string[] {
  if (field === "tag") return tagsOf(text);
  if (field === "domain") return [hostOfLink(text)];
  return text === "" ? [] : [text];
}

/** Values of a field that are the same as a filter: links and domains by their keys, referrers by their hosts, others folded. */
export function comparable(field: GroupBy, value: string): string {
  if (field === "link" || field === "domain") return value;
  const text = value.trim();
  if (field !== "referrer") return folded(bounded(text).trim());
  return hostName(URL.parse(text)?.host || text).replace(/^www\.(?=.)/, "") || folded(bounded(text));
}

const hourOf = (local: number) => new Date(local).toISOString().slice(11, 13);
const weekdayOf = (local: number) => ((((Math.floor(local / DAY_MS) + THURSDAY - 1) % 7) + 7) % 7) + 1;

/** By local time (localTime). */
const LOCAL: Readonly<Record<LocalField, (local: number) => string>> = {
  hour: hourOf,
  day: (local) => new Date(local).toISOString().slice(0, 10),
  weekday: (local) => String(weekdayOf(local)),
  weekday_hour: (local) => `${weekdayOf(local)}-${hourOf(local)}`,
};

/** When an instant is in the zone, as if it were UTC. */
export function localTime(zone: TimeZone, instant: number): number {
  return instant + zone.offsetAt(instant);
}

/**
 * The value of a local field at instants, which mostly come in order: asked of Intl once for each local hour, and each time
 * within an hour in which clocks are set.
 */
export function localValues(field: LocalField, zone: TimeZone): (instant: number) => string {
  const valueAt = LOCAL[field];
  let [from, to, value] = [0, 0, ""];
  return (instant) => {
    if (instant >= from && instant < to) return value;
    const local = localTime(zone, instant);
    const intoHour = ((local % HOUR_MS) + HOUR_MS) % HOUR_MS;
    value = valueAt(local);
    [from, to] = [instant - intoHour, instant - intoHour + HOUR_MS];
    if (zone.offsetAt(from) !== zone.offsetAt(instant) || zone.changeIn(from, to) !== undefined) to = from;
    return value;
  };
}

export function isLocal(field: GroupBy): field is LocalField {
  return field in LOCAL;
}
