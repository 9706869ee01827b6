// The key that signs seals, derived from SECRET_KEY, and the public one that verifies them.
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { type Config, isKeptInDataDir, secretKeysOf } from "../../config/config.ts";
import { derivedKey } from "../../stores/secrets/derived-key.ts";

export type SealKeys = {
  /** Ed25519, 32 bytes as base64url. */
  publicKey: string;
  /** Base64. */
  sign(text: string): string;
};

/** RFC 8410: what comes before the 32 bytes of a private key. */
const PKCS8_ED25519 = Buffer.from("302e020100300506032b657004220420", "hex");

/** HKDF-SHA256 (RFC 5869), with one key for each purpose as in secrets/keyring.ts. */
export function sealKeysOf(secretKey: string): SealKeys {
  const seed = derivedKey(secretKey, "linkledger seals: signature");
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_ED25519, seed]),
    format: "der",
    type: "pkcs8",
  });
  return {
    publicKey: String(createPublicKey(privateKey).export({ format: "jwk" }).x),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString("base64"),
  };
}

/** The first of the present SECRET_KEY; the other one, if there is one, of the key before. */
export function sealKeysFrom(
  config: Pick<Config, "secretKey" | "secretKeyPrevious" | "dataDir">,
): [SealKeys, ...SealKeys[]] {
  const [secretKey, ...previous] = secretKeysOf(config);
  return [sealKeysOf(secretKey), ...previous.map(sealKeysOf)];
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
