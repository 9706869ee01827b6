// API keys, and whose each of their texts is, which authentication looks up on every request.
import { type EarlierText, earlierTexts, type KeyTerms } from "../../commands/account/account.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: keyId. `earlier`: texts that rotations have replaced, each accepted until its end. */
export type KeyDocument = Document &
  KeyTerms & {
    accountId: string;
    keyHash: string;
    hint: string;
    label: string;
    status: "active" | "deactivated";
    issuedAt: string;
    /** Whose it is; absent for one of the account. */
    personId?: string | undefined;
    earlier?: EarlierText[];
  };

/** `_id`: SHA-256 of a text of the key, in hex, whether it is still accepted or not. */
export type KeyTextDocument = Document & { accountId: string; keyId: string };

export const keys: Projection<KeyDocument> = {
  collection: { name: "keys", indexes: [["accountId", "issuedAt"]] },
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
        const { keyHash, hint } = event.data;
        return { ...key, keyHash, hint, earlier: earlierTexts(key, event.data) };
      }
      case "KeyDeactivated":
        return { ...key, status: "deactivated" };
      default:
        return key;
    }
  },
};

export const keyTexts: Projection<KeyTextDocument> = {
  collection: { name: "key-texts", indexes: [] },
  handles: ["KeyIssued", "KeyRotated"],
  key: (event) =>
    event.type === "KeyIssued" || event.type === "KeyRotated" ? event.data.keyHash : undefined,
  empty: () => ({ accountId: "", keyId: "" }),
  evolve(text, event) {
    if (event.type !== "KeyIssued" && event.type !== "KeyRotated") return text;
    const { accountId, keyId } = event.data;
    return { ...text, accountId, keyId };
  },
};
