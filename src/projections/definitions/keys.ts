// API keys, which authentication looks up by their hash on every request.
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: keyId. */
export type KeyDocument = Document & {
  accountId: string;
  keyHash: string;
  hint: string;
  label: string;
  status: "active" | "deactivated";
  issuedAt: string;
};

export const keys: Projection<KeyDocument> = {
  name: "keys",
  collection: { name: "keys", indexes: [["keyHash"], ["accountId", "issuedAt"]] },
  handles: ["KeyIssued", "KeyDeactivated"],
  key: (event) =>
    event.type === "KeyIssued" || event.type === "KeyDeactivated" ? event.data.keyId : undefined,
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
        const { accountId, keyHash, hint, label, at } = event.data;
        return { accountId, keyHash, hint, label, status: "active", issuedAt: at };
      }
      case "KeyDeactivated":
        return { ...key, status: "deactivated" };
      default:
        return key;
    }
  },
};
