// The present state of each link, for redirects, link lists, QR codes and the link's fields in analytics answers.
import { linkAfter } from "../../commands/links/link.ts";
import type { EventOf, LinkEvent } from "../../events/catalogue.ts";
import { type LinkBlock, type LinkFlags, linkEvents, type NotedEnds } from "../../events/link-events.ts";
import { fingerprintOf } from "../../events/link-options.ts";
import { type CoarseStatus, coarseStatus, statusFacts } from "../../events/links/link-status.ts";
import { searchText } from "../../events/links/search-text.ts";
import { metadataOf } from "../../events/read-event.ts";
import { linkKey } from "../../events/streams.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Fields, Handled, Projection } from "../projection.ts";

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

export const links: Projection<LinkDocument, LinkEvent["type"]> = {
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
  handles: Object.keys(linkEvents) as LinkEvent["type"][],
  key: ({ data }) => linkKey(data.host, data.slug),
  empty: (event) => ({
    host: event.data.host,
    slug: event.data.slug,
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

type Computed = "dueEnd" | "hasDueLimit" | "coarseStatus" | "fingerprint" | "searchText";

function changed(
  link: Fields<LinkDocument>,
  event: Handled<LinkEvent["type"]>,
): Omit<Fields<LinkDocument>, Computed> {
  const { revision } = event;
  if (event.type !== "LinkCreated") return { ...linkAfter(link, event), revision };
  const { at, keyId, domainId = null, ...facts } = event.data;
  const { actor } = metadataOf(event);
  const makerId = keyId ?? (actor.type === "person" ? actor.id : null);
  const state = { disabled: false, deleted: false, block: null };
  return { ...facts, makerId, domainId, createdAt: at, changedAt: at, ...state, revision };
}
