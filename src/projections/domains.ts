// Custom domains of accounts with their verification and active state (interface, parts 2 and 3).
import { PREFIX } from "../events/streams.ts";
import type { Document } from "../read-store/port.ts";
import type { Projection } from "./projection.ts";

/** `_id`: `<accountId>/<hostname>`. `domainId` is null until verification has issued one. */
export type DomainDocument = Document & {
  accountId: string;
  hostname: string;
  domainId: string | null;
  token: string;
  state: "added" | "verified" | "removed";
  active: boolean;
  addedAt: string;
  verifiedAt: string | null;
  changedAt: string;
};

export const domains: Projection<DomainDocument> = {
  name: "domains",
  version: 1,
  collection: { name: "domains", indexes: [["domainId"], ["hostname"], ["accountId", "addedAt"]] },
  prefixes: [PREFIX.account],
  handles: ["DomainAdded", "DomainVerified", "DomainActivated", "DomainDeactivated", "DomainRemoved"],
  key: (event) =>
    "hostname" in event.data && "accountId" in event.data
      ? `${event.data.accountId}/${event.data.hostname}`
      : undefined,
  empty: (event) => ({
    accountId: "accountId" in event.data ? event.data.accountId : "",
    hostname: "hostname" in event.data ? event.data.hostname : "",
    domainId: null,
    token: "",
    state: "added",
    active: false,
    addedAt: event.data.at,
    verifiedAt: null,
    changedAt: event.data.at,
  }),
  evolve(domain, event) {
    const changedAt = event.data.at;
    switch (event.type) {
      case "DomainAdded": {
        const { accountId, hostname, token } = event.data;
        const fresh = { domainId: null, state: "added" as const, active: false, verifiedAt: null };
        return { accountId, hostname, token, ...fresh, addedAt: changedAt, changedAt };
      }
      case "DomainVerified":
        return {
          ...domain,
          domainId: event.data.domainId,
          state: "verified",
          verifiedAt: changedAt,
          changedAt,
        };
      case "DomainActivated":
        return { ...domain, active: true, changedAt };
      case "DomainDeactivated":
        return { ...domain, active: false, changedAt };
      case "DomainRemoved":
        return { ...domain, state: "removed", active: false, changedAt };
      default:
        return domain;
    }
  },
};
