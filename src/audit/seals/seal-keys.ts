// The keys of seals, derived from SECRET_KEY: one signs, one makes the tags by which a changed event is found.
import { createCipheriv, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { type Config, isKeptInDataDir, secretKeyOf } from "../../config/config.ts";
import { derivedKey } from "../../stores/secrets/derived-key.ts";

/** Bytes that are kept of each leaf hash and of each tag: they only tell which event it was, the root that there was one. */
export const MARK_BYTES = 4;

export type SealKeys = {
  /** Ed25519, 32 bytes as base64url. */
  publicKey: string;
  /** Base64. */
  sign(text: string): string;
  /** MARK_BYTES for each leaf hash, one after the other. Nobody without SECRET_KEY can make them. */
  tags(leaves: readonly Buffer[]): Buffer;
};

/** RFC 8410: what comes before the 32 bytes of a private key. */
const PKCS8_ED25519 = Buffer.from("302e020100300506032b657004220420", "hex");
const BLOCK = 16;

/** HKDF-SHA256 (RFC 5869), with one key for each purpose as in secrets/keyring.ts. */
export function sealKeysOf(secretKey: string): SealKeys {
  const derive = (purpose: string) => derivedKey(secretKey, `linkledger seals: ${purpose}`);
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_ED25519, derive("signature")]),
    format: "der",
    type: "pkcs8",
  });
  const tagKey = derive("tags");
  return {
    publicKey: String(createPublicKey(privateKey).export({ format: "jwk" }).x),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString("base64"),
    tags: (leaves) => tagsOf(tagKey, leaves),
  };
}

/** The first of the present SECRET_KEY; the other one, if there is one, of the key before. */
export function sealKeysFrom(
  config: Pick<Config, "secretKey" | "secretKeyPrevious" | "dataDir">,
): [SealKeys, ...SealKeys[]] {
  const [secretKey, previous] = [secretKeyOf(config), config.secretKeyPrevious];
  const earlier = previous === undefined || previous === secretKey ? [] : [sealKeysOf(previous)];
  return [sealKeysOf(secretKey), ...earlier];
}

/** What a verification trusts, unless it is told other keys. `keys`: of sealKeysFrom. */
export function trustOf(config: Pick<Config, "secretKey" | "dataDir">, keys: readonly SealKeys[]) {
  return { publicKeys: keys.map(({ publicKey }) => publicKey), keyOrigin: keyOriginOf(config) };
}

/** Says where the keys of sealKeysFrom lie: who can write beside the log can also seal it anew with a key from there. */
function keyOriginOf(config: Pick<Config, "secretKey" | "dataDir">): string {
  return isKeptInDataDir(config) ? "of secret.key, which lies beside the log" : "of SECRET_KEY";
}

/** False also for what is no key or no signature. */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  const key = publicKeyOf(publicKey);
  return key !== undefined && verify(null, Buffer.from(text), key, Buffer.from(signature, "base64"));
}

function publicKeyOf(x: string): KeyObject | undefined {
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  } catch {
    return undefined;
  }
}

/**
 * AES of each leaf hash's first block: a keyed function of inputs that never repeat. One call for ten thousand events,
 * where as many HMACs would take eight times as long.
 */
function tagsOf(key: Buffer, leaves: readonly Buffer[]): Buffer {
  const cipher = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false);
  const blocks = cipher.update(Buffer.concat(leaves.map((leaf) => leaf.subarray(0, BLOCK))));
  return Buffer.concat(leaves.map((_, n) => blocks.subarray(n * BLOCK, n * BLOCK + MARK_BYTES)));
}
