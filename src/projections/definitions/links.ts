// The present state of each link, for redirects, link lists, QR codes and the link's fields in analytics answers.
import { linkAfter } from "../../commands/links/link.ts";
import type { EventOf, LinkEvent, StoredEvent } from "../../events/catalogue.ts";
import type { LinkBlock, LinkFlags, NotedEnds } from "../../events/link-events.ts";
import { fingerprintOf } from "../../events/link-options.ts";
import { type CoarseStatus, coarseStatus, statusFacts } from "../../events/links/link-status.ts";
import { searchText } from "../../events/links/search-text.ts";
import { metadataOf } from "../../events/read-event.ts";
import { linkKey } from "../../events/streams.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Fields, Projection } from "../projection.ts";

/**
 * `_id`: `<host>/<slug>`. The fields of LinkCreated, with null for absent ones that lists filter by. `revision`: of the
 * link's stream. `block`: the operator's, whatever the owner does. `fingerprint`: what find_existing looks for. `searchText`:
 * what lists are searched by. `makerId`: of the key, or of the person in the portal, that made it. `dueEnd`: an end that is not noted yet, or behind NOTED one that is; `hasDueLimit`: whether there is such a limit.
 */
export type LinkDocument = Document &
  LinkFlags &
  Omit<EventOf<"LinkCreated">["data"], "at" | "keyId" | "domainId"> & {
    makerId: string | null;
    domainId: string | null;
    createdAt: string;
    block: LinkBlock | null;
    noted?: NotedEnds;
    dueEnd: string | null;
    hasDueLimit: boolean;
    coarseStatus: CoarseStatus;
    fingerprint: string | null;
    searchText: string;
    revision: number;
    changedAt: string;
  };

/** Sorts after each time. */
export const NOTED = "~";

export const links: Projection<LinkDocument> = {
  collection: {
    name: "links",
    indexes: [
      // Covering indexes for both lists: they hold every field that is filtered or searched.
      ["makerId", "deleted", "createdAt", "_id", "domainId", "searchText"],
      [
        ...["accountId", "deleted", "createdAt", "_id", "coarseStatus", "host", "domainId", "makerId", "via"],
        ...["tags", "searchText"],
      ],
      ["accountId", "coarseStatus", "createdAt"],
      ["accountId", "externalId", "deleted", "createdAt"],
      // A link of the default host is found by its `_id`.
      ["slug", "domainId"],
      ["fingerprint"],
      ["coarseStatus", "dueEnd"],
      ["hasDueLimit", "coarseStatus"],
    ],
  },
  handles: [
    "LinkCreated",
    "LinkRetargeted",
    "LinkOptionsChanged",
    "LinkDisabled",
    "LinkEnabled",
    "LinkBlocked",
    "LinkUnblocked",
    "LinkDeleted",
    "LinkRestored",
    "LinkExpired",
    "LinkReopened",
    "LinkLimitReached",
  ],
  key: (event) =>
    "slug" in event.data && "host" in event.data ? linkKey(event.data.host, event.data.slug) : undefined,
  empty: (event) => ({
    host: "host" in event.data ? event.data.host : "",
    slug: "slug" in event.data ? event.data.slug : "",
    accountId: "",
    makerId: null,
    longUrl: "",
    shortUrl: "",
    createdAt: event.data.at,
    disabled: false,
    deleted: true,
    block: null,
    dueEnd: null,
    hasDueLimit: false,
    coarseStatus: "deleted",
    fingerprint: null,
    searchText: "",
    via: "api",
    custom: false,
    domainId: null,
    revision: event.revision,
    changedAt: event.data.at,
  }),
  evolve(link, event) {
    // One whose LinkCreated can't be read leads nowhere.
    if (link.shortUrl === "" && event.type !== "LinkCreated") return link;
    const next = changed(link, event);
    const { expiresAt = null, maxClicks, noted } = next;
    return {
      ...next,
      dueEnd: expiresAt !== null && noted?.expiresAt === expiresAt ? `${NOTED}${expiresAt}` : expiresAt,
      hasDueLimit: maxClicks !== undefined && noted?.maxClicks !== maxClicks,
      coarseStatus: coarseStatus(statusFacts(next)),
      fingerprint: fingerprintOf(next),
      searchText: searchText(next),
    };
  },
};

function changed(link: Fields<LinkDocument>, event: StoredEvent): Fields<LinkDocument> {
  const { revision } = event;
  if (event.type !== "LinkCreated")
    return { ...linkAfter(link, event as Exclude<LinkEvent, { type: "LinkCreated" }>), revision };
  const { at, keyId, domainId = null, ...facts } = event.data;
  const { actor } = metadataOf(event);
  const makerId = keyId ?? (actor.type === "person" ? actor.id : null);
  const { coarseStatus: coarse, fingerprint, searchText: text, dueEnd, hasDueLimit } = link;
  const of = {
    makerId,
    domainId,
    createdAt: at,
    changedAt: at,
    disabled: false,
    deleted: false,
    block: null,
  };
  return {
    ...facts,
    ...of,
    coarseStatus: coarse,
    fingerprint,
    searchText: text,
    dueEnd,
    hasDueLimit,
    revision,
  };
}
