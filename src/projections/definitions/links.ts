// The present state of each link, for redirects, link lists, QR codes and the link's fields in analytics answers.
import type { EventOf } from "../../events/catalogue.ts";
import {
  blockOf,
  type LinkBlock,
  type LinkFlags,
  type LinkStatus,
  noFlags,
  withFlags,
} from "../../events/link-events.ts";
import { fingerprintOf, withOptions } from "../../events/link-options.ts";
import { linkKey } from "../../events/streams.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Fields, Projection } from "../projection.ts";

/**
 * `_id`: `<host>/<slug>`. The fields of LinkCreated, with null for absent ones that lists filter by. `revision`: of the
 * link's stream. `block`: the operator's, whatever the status. `fingerprint`: what find_existing looks for.
 */
export type LinkDocument = Document &
  LinkFlags &
  Omit<EventOf<"LinkCreated">["data"], "at" | "keyId" | "domainId"> & {
    keyId: string | null;
    domainId: string | null;
    createdAt: string;
    status: LinkStatus;
    block: LinkBlock | null;
    fingerprint: string | null;
    revision: number;
    changedAt: string;
  };

export const links: Projection<LinkDocument> = {
  name: "links",
  collection: {
    name: "links",
    indexes: [
      // Covering indexes for both lists: they hold every field that is filtered or searched.
      ["keyId", "deleted", "createdAt", "_id", "domainId", "shortUrl", "longUrl", "title"],
      [
        ...["accountId", "deleted", "createdAt", "_id", "status", "domainId", "keyId", "tags"],
        ...["shortUrl", "longUrl", "title"],
      ],
      ["accountId", "externalId", "deleted", "createdAt"],
      // A link of the default host is found by its `_id`.
      ["slug", "domainId"],
      ["fingerprint"],
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
    ...noFlags,
    status: "deleted",
    deleted: true,
    block: null,
    fingerprint: null,
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
        return fingerprinted({ ...made, keyId, domainId, createdAt: at, ...noFlags, block: null, ...seen });
      }
      case "LinkRetargeted":
        return fingerprinted({ ...link, longUrl: event.data.to, ...seen });
      case "LinkOptionsChanged":
        return fingerprinted({ ...withOptions(link, event.data.changes), ...seen });
      case "LinkDisabled":
        return withFlags({ ...link, ...seen }, { disabled: true });
      case "LinkEnabled":
        return withFlags({ ...link, ...seen }, { disabled: false });
      case "LinkDeleted":
        return withFlags({ ...link, ...seen }, { deleted: true });
      case "LinkRestored":
        return withFlags({ ...link, ...seen }, { deleted: false });
      case "LinkBlocked":
        return { ...link, block: blockOf(event.data), ...seen };
      case "LinkUnblocked":
        return { ...link, block: null, ...seen };
      default:
        return link;
    }
  },
};

function fingerprinted(link: Omit<Fields<LinkDocument>, "fingerprint">): Fields<LinkDocument> {
  return { ...link, fingerprint: fingerprintOf(link) };
}
