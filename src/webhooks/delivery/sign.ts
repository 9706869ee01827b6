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

function signature(key: string, prefix: string, body: string): string {
  return createHmac("sha256", key).update(prefix).update(body).digest("base64");
}
