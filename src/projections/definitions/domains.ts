// Custom domains of accounts with their verification and active state (interface, parts 2 and 3).
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

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
  /** How it was verified: by a TXT record, or by the operator's `--skip-dns`; null until then. */
  proven: "dns" | "operator" | null;
  /** When the daily check first found the TXT record missing; null while it is there. */
  recordLostAt: string | null;
  /** Deactivated by the daily check, not by its owner. */
  lost: boolean;
  /** Where `/` redirects to; with null it shows a page of the service. */
  homeUrl: string | null;
  changedAt: string;
};

/** Only then its links are served. */
export function isInService({ state, active }: Pick<DomainDocument, "state" | "active">): boolean {
  return state === "verified" && active;
}

const unproven = { domainId: null, state: "added", active: false, verifiedAt: null, proven: null } as const;
const asNew = { ...unproven, recordLostAt: null, lost: false, homeUrl: null };

export const domains: Projection<DomainDocument> = {
  collection: {
    name: "domains",
    indexes: [["domainId"], ["hostname"], ["accountId", "addedAt"], ["state", "proven"]],
  },
  handles: [
    "DomainAdded",
    "DomainVerified",
    "DomainActivated",
    "DomainDeactivated",
    "DomainRemoved",
    "DomainRecordLost",
    "DomainRecordFound",
    "DomainHomeSet",
  ],
  key: (event) =>
    "hostname" in event.data && "accountId" in event.data
      ? `${event.data.accountId}/${event.data.hostname}`
      : undefined,
  empty: (event) => ({
    accountId: "accountId" in event.data ? event.data.accountId : "",
    hostname: "hostname" in event.data ? event.data.hostname : "",
    ...asNew,
    token: "",
    addedAt: event.data.at,
    changedAt: event.data.at,
  }),
  evolve(domain, event) {
    const changedAt = event.data.at;
    switch (event.type) {
      case "DomainAdded": {
        const { accountId, hostname, token } = event.data;
        return { accountId, hostname, token, ...asNew, addedAt: changedAt, changedAt };
      }
      case "DomainVerified":
        return {
          ...domain,
          domainId: event.data.domainId,
          state: "verified",
          verifiedAt: changedAt,
          proven: event.data.how,
          changedAt,
        };
      case "DomainActivated":
        return { ...domain, active: true, lost: false, changedAt };
      case "DomainDeactivated":
        return { ...domain, active: false, lost: event.data.reason === "record_lost", changedAt };
      case "DomainRecordLost":
        return { ...domain, recordLostAt: changedAt, changedAt };
      case "DomainRecordFound":
        return { ...domain, recordLostAt: null, changedAt };
      case "DomainHomeSet":
        return { ...domain, homeUrl: event.data.homeUrl, changedAt };
      case "DomainRemoved":
        return { ...domain, state: "removed", active: false, changedAt };
      default:
        return domain;
    }
  },
};
