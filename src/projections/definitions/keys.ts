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

const OF_KEYS = ["KeyIssued", "KeyRotated", "KeyDeactivated"] as const;

export const keys: Projection<KeyDocument, (typeof OF_KEYS)[number]> = {
  collection: { name: "keys", indexes: [["accountId", "issuedAt"]] },
  handles: OF_KEYS,
  key: ({ data }) => data.keyId,
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
    }
  },
};

const OF_TEXTS = ["KeyIssued", "KeyRotated"] as const;

export const keyTexts: Projection<KeyTextDocument, (typeof OF_TEXTS)[number]> = {
  collection: { name: "key-texts", indexes: [] },
  handles: OF_TEXTS,
  key: ({ data }) => data.keyHash,
  empty: () => ({ accountId: "", keyId: "" }),
  evolve: (text, { data: { accountId, keyId } }) => ({ ...text, accountId, keyId }),
};
