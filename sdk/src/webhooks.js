// Verifies deliveries as Standard Webhooks has it (standardwebhooks.com), by the webhook's key or its public key.

/** Answer 401. */
export class WebhookRefused extends Error {
  code;

  constructor(code, message) {
    super(message);
    this.name = "WebhookRefused";
    this.code = code;
  }
}

const PUBLIC_KEY = "whpk_";

/** Resolves to the body. @throws WebhookRefused */
export async function verifyWebhook(options) {
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
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new WebhookRefused("invalid_body", "The body is not JSON");
  }
}

async function byKey(key) {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const secret = await crypto.subtle.importKey("raw", new TextEncoder().encode(key), hmac, false, ["verify"]);
  return {
    version: "v1",
    verifies: (signature, content) => crypto.subtle.verify("HMAC", secret, signature, content),
  };
}

async function byPublicKey(key) {
  const raw = bytesOf(key.slice(PUBLIC_KEY.length));
  const publicKey = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
  return {
    version: "v1a",
    verifies: (signature, content) => crypto.subtle.verify("Ed25519", publicKey, signature, content),
  };
}

function headerOf(headers, name) {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  const text = typeof value === "string" ? value : value?.join(" ");
  if (!text) throw new WebhookRefused("missing_header", `There is no ${name}`);
  return text;
}

/** Of base64; of anything else nothing, which no signature is. */
function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function joined(first, second) {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
