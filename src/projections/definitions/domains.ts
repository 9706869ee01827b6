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
  /** Where `/` redirects to; with null it shows a page of the service. */
  homeUrl: string | null;
};

/** Only then its links are served. */
export function isInService({ state, active }: Pick<DomainDocument, "state" | "active">): boolean {
  return state === "verified" && active;
}

const unproven = { domainId: null, state: "added", active: false, verifiedAt: null, proven: null } as const;
const asNew = { ...unproven, recordLostAt: null, homeUrl: null };

const HANDLED = [
  "DomainAdded",
  "DomainVerified",
  "DomainActivated",
  "DomainDeactivated",
  "DomainRemoved",
  "DomainRecordLost",
  "DomainRecordFound",
  "DomainHomeSet",
] as const;

export const domains: Projection<DomainDocument, (typeof HANDLED)[number]> = {
  collection: {
    name: "domains",
    indexes: [["domainId"], ["hostname"], ["accountId", "addedAt"], ["state", "proven"]],
  },
  handles: HANDLED,
  key: ({ data }) => `${data.accountId}/${data.hostname}`,
  empty: ({ data: { accountId, hostname, at } }) => ({
    ...{ accountId, hostname, token: "", addedAt: at },
    ...asNew,
  }),
  evolve(domain, event) {
    const { at } = event.data;
    switch (event.type) {
      case "DomainAdded": {
        const { accountId, hostname, token } = event.data;
        return { accountId, hostname, token, ...asNew, addedAt: at };
      }
      case "DomainVerified": {
        const { domainId, how: proven } = event.data;
        return { ...domain, domainId, state: "verified", verifiedAt: at, proven };
      }
      case "DomainActivated":
        return { ...domain, active: true };
      case "DomainDeactivated":
        return { ...domain, active: false };
      case "DomainRecordLost":
        return { ...domain, recordLostAt: at };
      case "DomainRecordFound":
        return { ...domain, recordLostAt: null };
      case "DomainHomeSet":
        return { ...domain, homeUrl: event.data.homeUrl };
      case "DomainRemoved":
        return { ...domain, state: "removed", active: false };
    }
  },
};
