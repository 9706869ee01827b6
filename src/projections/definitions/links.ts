// The present state of each link, for redirects, link lists, QR codes and the link's fields in analytics answers.
import type { EventOf } from "../../events/catalogue.ts";
import { blockOf, type LinkBlock } from "../../events/link-events.ts";
import { CATEGORY, linkKey } from "../../events/streams.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";

/**
 * `_id`: `<host>/<slug>`. The fields of LinkCreated, with null for absent ones that lists filter by. `revision`: of the
 * link's stream. `deleted`: the status as a boolean, for the indexes. `block`: the operator's, whatever the status.
 */
export type LinkDocument = Document &
  Omit<EventOf<"LinkCreated">["data"], "at" | "keyId" | "domainId"> & {
    keyId: string | null;
    domainId: string | null;
    createdAt: string;
    status: "live" | "disabled" | "deleted";
    deleted: boolean;
    block: LinkBlock | null;
    revision: number;
    changedAt: string;
  };

export const links: Projection<LinkDocument> = {
  name: "links",
  version: 1,
  collection: {
    name: "links",
    indexes: [
      // Covering indexes for both lists: they hold every field that is filtered or searched.
      ["keyId", "deleted", "createdAt", "_id", "domainId", "shortUrl", "longUrl"],
      ["accountId", "deleted", "createdAt", "_id", "status", "domainId", "shortUrl", "longUrl"],
    ],
    // A link of the default host is found by its `_id`.
    partialIndexes: [["slug", "domainId"]],
  },
  categories: [CATEGORY.link],
  handles: [
    "LinkCreated",
    "LinkRetargeted",
    "LinkDisabled",
    "LinkEnabled",
    "LinkBlocked",
    "LinkUnblocked",
    "LinkDeleted",
    "LinkRestored",
  ],
  key: (event) =>
    "slug" in event.data && "host" in event.data ? linkKey(event.data.host, event.data.slug) : undefined,
  empty: (event) => ({
    host: "host" in event.data ? event.data.host : "",
    slug: "slug" in event.data ? event.data.slug : "",
    accountId: "",
    keyId: null,
    longUrl: "",
    shortUrl: "",
    createdAt: event.data.at,
    status: "deleted",
    deleted: true,
    block: null,
    via: "api",
    custom: false,
    domainId: null,
    revision: event.revision,
    changedAt: event.data.at,
  }),
  evolve(link, event) {
    // One whose LinkCreated can't be read leads nowhere.
    if (link.shortUrl === "" && event.type !== "LinkCreated") return link;
    const seen = { revision: event.revision, changedAt: event.data.at };
    switch (event.type) {
      case "LinkCreated": {
        const { at, keyId = null, domainId = null, ...made } = event.data;
        return {
          ...made,
          keyId,
          domainId,
          createdAt: at,
          status: "live",
          deleted: false,
          block: null,
          ...seen,
        };
      }
      case "LinkRetargeted":
        return { ...link, longUrl: event.data.to, ...seen };
      case "LinkDisabled":
        return { ...link, status: "disabled", deleted: false, ...seen };
      case "LinkEnabled":
      case "LinkRestored":
        return { ...link, status: "live", deleted: false, ...seen };
      case "LinkDeleted":
        return { ...link, status: "deleted", deleted: true, ...seen };
      case "LinkBlocked":
        return { ...link, block: blockOf(event.data), ...seen };
      case "LinkUnblocked":
        return { ...link, block: null, ...seen };
      default:
        return link;
    }
  },
};
