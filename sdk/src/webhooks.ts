// Verifies deliveries as Standard Webhooks has it (standardwebhooks.com), by the webhook's key or its public key.
import type { webhooks } from "./api.ts";

/** What a webhook is sent, by its `event`. */
export type WebhookDelivery = {
  [E in keyof webhooks]: webhooks[E] extends {
    post: { requestBody: { content: { "application/json": infer Body } } };
  }
    ? Body
    : never;
}[keyof webhooks];

export type VerifyOptions = {
  /** The webhook's key (`whk_...`), or its public key (`whpk_...`). */
  key: string;
  /** Of the request: `request.headers`, whatever the server. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As it came, before any JSON parser. */
  body: string | Uint8Array;
  /** How far its time may be from this machine's, in seconds; default 300. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970; default now. */
  now?: number;
};

export type WebhookRefusal = "missing_header" | "wrong_time" | "wrong_signature" | "invalid_body";

/** Answer 401. */
export class WebhookRefused extends Error {
  readonly code: WebhookRefusal;

  constructor(code: WebhookRefusal, message: string) {
    super(message);
    this.name = "WebhookRefused";
    this.code = code;
  }
}

const PUBLIC_KEY = "whpk_";

/** Resolves to the body. @throws WebhookRefused */
export async function verifyWebhook(options: VerifyOptions): Promise<WebhookDelivery> {
  const { key, headers, toleranceSeconds = 300, now = Date.now() } = options;
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature").split(" ");
  if (!/^\d{1,15}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookRefused("wrong_time", "webhook-timestamp is not near this machine's time");
  const encoder = new TextEncoder();
  const body = typeof options.body === "string" ? encoder.encode(options.body) : options.body;
  const content = joined(encoder.encode(`${id}.${timestamp}.`), body);
  const { version, verifies } = key.startsWith(PUBLIC_KEY) ? await byPublicKey(key) : await byKey(key);
  const fits = await Promise.all(
    signatures
      .filter((signature) => signature.startsWith(`${version},`))
      .map((signature) => verifies(bytesOf(signature.slice(version.length + 1)), content)),
  );
  if (!fits.includes(true))
    throw new WebhookRefused("wrong_signature", `No ${version} signature in webhook-signature fits`);
  try {
    return JSON.parse(new TextDecoder().decode(body)) as WebhookDelivery;
  } catch {
    throw new WebhookRefused("invalid_body", "The body is not JSON");
  }
}

type Bytes = Uint8Array<ArrayBuffer>;
type Verifier = { version: string; verifies(signature: Bytes, content: Bytes): Promise<boolean> };

async function byKey(key: string): Promise<Verifier> {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const secret = await crypto.subtle.importKey("raw", new TextEncoder().encode(key), hmac, false, ["verify"]);
  return {
    version: "v1",
    verifies: (signature, content) => crypto.subtle.verify("HMAC", secret, signature, content),
  };
}

async function byPublicKey(key: string): Promise<Verifier> {
  const raw = bytesOf(key.slice(PUBLIC_KEY.length));
  const publicKey = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
  return {
    version: "v1a",
    verifies: (signature, content) => crypto.subtle.verify("Ed25519", publicKey, signature, content),
  };
}

function headerOf(headers: VerifyOptions["headers"], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  const text = typeof value === "string" ? value : value?.join(" ");
  if (!text) throw new WebhookRefused("missing_header", `There is no ${name}`);
  return text;
}

/** Of base64; of anything else nothing, which no signature is. */
function bytesOf(base64: string): Bytes {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function joined(first: Uint8Array, second: Uint8Array): Bytes {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
