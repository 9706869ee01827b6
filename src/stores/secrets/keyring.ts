// Derives the keys that encrypt secrets from SECRET_KEY; they are kept in memory only.
import { type CipherGCMTypes, createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { Failure } from "../../runtime/errors.ts";
import { derivedKey } from "./derived-key.ts";
import { SecretDamaged } from "./port.ts";

export type Keyring = {
  /** Encrypts with the current key: `v1.<key id>.<nonce>.<ciphertext and tag>`, base64url. `name`: of the record. */
  seal(name: string, text: string): string;
  /** @throws secret_key_unknown; SecretDamaged for a value that was changed or belongs to another record */
  open(name: string, sealed: unknown): string;
  /** Whether it is sealed with the current key. */
  isCurrent(sealed: unknown): boolean;
  /** HMACs of the text, `<key id>.<base64url>`: with the current key, then with earlier ones. */
  hashes(text: string): [current: string, ...earlier: string[]];
};

type Key = { id: string; master: Buffer; lookup: Buffer };

const CIPHER: CipherGCMTypes = "aes-256-gcm";
const NONCE = 12;
const TAG = 16;
const SEALED = /^v1\.([A-Za-z0-9_-]{11})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/;

/** `previous`: an earlier SECRET_KEY, needed until all values are encrypted with the current one. */
export function keyringOf(secretKey: string, previous?: string): Keyring {
  const current = derived(secretKey);
  const keys = [current, ...(previous === undefined || previous === secretKey ? [] : [derived(previous)])];
  return {
    seal: (name, text) => seal(current, name, text),
    open(name, sealed) {
      const [, id, nonce = "", body = ""] = SEALED.exec(String(sealed)) ?? [];
      if (id === undefined) throw new SecretDamaged(name);
      const key = keys.find((candidate) => candidate.id === id);
      if (!key)
        throw new Failure(
          `What is stored is encrypted with another SECRET_KEY (key id ${id}): set that one, also as SECRET_KEY_PREVIOUS`,
          { code: "secret_key_unknown" },
        );
      try {
        return open(key, name, Buffer.from(nonce, "base64url"), Buffer.from(body, "base64url"));
      } catch (cause) {
        throw new SecretDamaged(name, cause);
      }
    },
    isCurrent: (sealed) => SEALED.exec(String(sealed))?.[1] === current.id,
    hashes: (text) => keys.map((key) => lookupHash(key, text)) as [string, ...string[]],
  };
}

/** HKDF-SHA256 (RFC 5869) with one key for each purpose; the key id reveals nothing about the others. */
function derived(secretKey: string): Key {
  const derive = (purpose: string, bytes: number) =>
    derivedKey(secretKey, `linkledger secrets: ${purpose}`, bytes);
  return {
    id: derive("key id", 8).toString("base64url"),
    master: derive("encryption", 32),
    lookup: derive("look-up", 32),
  };
}

function seal(key: Key, name: string, text: string): string {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(CIPHER, recordKey(key, name), nonce).setAAD(Buffer.from(name));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `v1.${key.id}.${nonce.toString("base64url")}.${body.toString("base64url")}`;
}

function open(key: Key, name: string, nonce: Buffer, body: Buffer): string {
  const decipher = createDecipheriv(CIPHER, recordKey(key, name), nonce, { authTagLength: TAG });
  decipher.setAAD(Buffer.from(name)).setAuthTag(body.subarray(-TAG));
  return Buffer.concat([decipher.update(body.subarray(0, -TAG)), decipher.final()]).toString("utf8");
}

/** Each record name has its own key, so that random nonces must be unique among the values of one record only. */
function recordKey({ master }: Key, name: string): Buffer {
  return createHmac("sha256", master).update(name).digest();
}

function lookupHash({ id, lookup }: Key, text: string): string {
  return `${id}.${createHmac("sha256", lookup).update(text).digest("base64url")}`;
}
