// API keys, which authentication looks up by their hash on every request.
import type { KeyTerms } from "../../commands/account/account.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: keyId. `previousHash`: of the text before the last rotation, accepted until `previousUntil`. */
export type KeyDocument = Document &
  KeyTerms & {
    accountId: string;
    keyHash: string;
    hint: string;
    label: string;
    status: "active" | "deactivated";
    issuedAt: string;
    previousHash?: string;
    previousUntil?: string;
  };

export const keys: Projection<KeyDocument> = {
  name: "keys",
  collection: { name: "keys", indexes: [["keyHash"], ["previousHash"], ["accountId", "issuedAt"]] },
  handles: ["KeyIssued", "KeyRotated", "KeyDeactivated"],
  key: (event) => ("keyId" in event.data && event.type.startsWith("Key") ? event.data.keyId : undefined),
  empty: (event) => ({
    accountId: event.type === "KeyIssued" ? event.data.accountId : "",
    keyHash: "",
    hint: "",
    label: "",
    status: "deactivated",
    issuedAt: event.data.at,
  }),
  evolve(key, event) {
    switch (event.type) {
      case "KeyIssued": {
        const { at, keyId: _, ...issued } = event.data;
        return { ...issued, status: "active", issuedAt: at };
      }
      case "KeyRotated": {
        const { keyHash, hint, previousUntil } = event.data;
        return { ...key, keyHash, hint, previousHash: key.keyHash, previousUntil };
      }
      case "KeyDeactivated":
        return { ...key, status: "deactivated" };
      default:
        return key;
    }
  },
};
