// The headers of a delivery, among them Standard Webhooks signatures, which receivers can verify with a library
// (standardwebhooks.com).
import { createHmac, sign } from "node:crypto";
import { type SecretsInUse, signingKey } from "../../commands/webhooks/signing-key.ts";

export type SignatureHeaders = {
  "webhook-id": string;
  "webhook-timestamp": string;
  "webhook-signature": string;
};

const WEBHOOK_USER_AGENT = "service-webhooks/2.0";

/** All but the webhook's key itself (interface, part 6). `at`: time of the attempt in milliseconds. */
export function deliveryHeaders(
  secrets: SecretsInUse,
  { id, event, body }: { id: string; event: string; body: string },
  at: number,
): Record<string, string> {
  return {
    "X-Webhook-Event": event,
    "X-Webhook-Timestamp": new Date(at).toISOString(),
    "Content-Type": "application/json",
    "User-Agent": WEBHOOK_USER_AGENT,
    ...signatureHeaders(secrets, id, at, body),
  };
}

/**
 * `secrets`: the current ones and, during a rotation, the previous ones; each gives a symmetric signature (`v1`) and an
 * asymmetric one (`v1a`), separated by spaces. `at`: time of the attempt in milliseconds; sent in whole seconds. `body`:
 * exactly the text that is sent.
 */
export function signatureHeaders(
  secrets: SecretsInUse,
  id: string,
  at: number,
  body: string,
): SignatureHeaders {
  const timestamp = String(Math.floor(at / 1000));
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = [
    ...secrets.map(({ key }) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`),
    ...secrets.map(
      ({ seed }) => `v1a,${sign(null, Buffer.from(signed), signingKey(seed)).toString("base64")}`,
    ),
  ];
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
