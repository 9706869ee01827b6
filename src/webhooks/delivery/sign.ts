// Creates Standard Webhooks signature headers, which receivers can verify with a library (standardwebhooks.com).
import { createHmac } from "node:crypto";

export type SignatureHeaders = {
  "webhook-id": string;
  "webhook-timestamp": string;
  "webhook-signature": string;
};

/**
 * `keys`: the current key and, during a rotation, the previous one; each gives one signature, separated by spaces.
 * `at`: time of the attempt in milliseconds; sent in whole seconds. `body`: exactly the text that is sent.
 */
export function signatureHeaders(
  keys: readonly string[],
  id: string,
  at: number,
  body: string,
): SignatureHeaders {
  const timestamp = String(Math.floor(at / 1000));
  const signatures = keys.map((key) => `v1,${signature(key, `${id}.${timestamp}.`, body)}`);
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

/**
 * The key in the format of Standard Webhooks libraries: `whsec_` and the base64 of the bytes of the whole `whk_...`
 * key. The HMAC secret is the key as text, so that a receiver without a library need not decode anything.
 */
export function signingSecret(key: string): string {
  return `whsec_${Buffer.from(key).toString("base64")}`;
}

function signature(key: string, prefix: string, body: string): string {
  return createHmac("sha256", key).update(prefix).update(body).digest("base64");
}
