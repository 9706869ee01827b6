// A webhook's Ed25519 key pair, for the asymmetric signatures of Standard Webhooks (`v1a`).
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";

/** `key`: `whk_...`, which each delivery carries. `seed`: 32 random characters that never leave the service. */
export type SigningSecrets = { key: string; seed: string };

/** The current ones, and after a rotation for a while those before them. */
export type SecretsInUse = readonly [SigningSecrets, ...SigningSecrets[]];

/** Of an Ed25519 private key in PKCS #8 (RFC 8410), before the 32 bytes of its seed. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const KEY_BYTES = 32;

export function signingKey(seed: string): KeyObject {
  const key = Buffer.concat([PKCS8_HEAD, Buffer.from(seed, "latin1")]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

/** `whpk_` and the base64 of the key's 32 bytes, as Standard Webhooks writes it. */
export function publicKeyOf(seed: string): string {
  const spki = createPublicKey(signingKey(seed)).export({ format: "der", type: "spki" });
  return `whpk_${spki.subarray(-KEY_BYTES).toString("base64")}`;
}
