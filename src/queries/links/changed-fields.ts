// What an event of a link's stream changes, by the names of the fields in requests and answers.
import { FIELD_NAMES, fieldsOf, LINK_FIELDS } from "../../commands/links/fields/link-fields.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import { type LinkOptions, withOptions } from "../../events/link-options.ts";

/** Null where it is not set. */
export type ChangedFields = Record<string, { from: unknown; to: unknown }>;

/** The part of a link that says more than which events there were. */
export type LinkContent = LinkOptions & { longUrl?: string };

export function contentAfter(before: LinkContent, event: StoredEvent): LinkContent {
  if (event.type === "LinkCreated") return event.data;
  if (event.type === "LinkRetargeted") return { ...before, longUrl: event.data.to };
  if (event.type === "LinkOptionsChanged") return withOptions(before, event.data.changes);
  return before;
}

/**
 * `url`, and the fields that the event sets or clears; a password only as `has_password`. Empty for other events.
 * `after`: contentAfter the event.
 */
export function changedFields(before: LinkContent, after: LinkContent, event: StoredEvent): ChangedFields {
  const changed: ChangedFields = {};
  if (before.longUrl !== after.longUrl) changed.url = { from: before.longUrl ?? null, to: after.longUrl };
  const options = event.type === "LinkOptionsChanged" ? event.data.changes : undefined;
  const named: LinkOptions = event.type === "LinkCreated" ? event.data : {};
  const [had, has] = [before, after].map((link) => fieldsOf(link) as Record<string, unknown>);
  for (const name of FIELD_NAMES) {
    const { option } = LINK_FIELDS[name];
    if (options?.[option] === undefined && named[option] === undefined) continue;
    const field = name === "password" ? "has_password" : name;
    changed[field] = { from: had?.[field] ?? null, to: has?.[field] ?? null };
  }
  return changed;
}
