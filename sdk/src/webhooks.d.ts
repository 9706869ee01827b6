import type { webhooks } from "./api.js";
/** What a webhook is sent, by its `event`. */
export type WebhookDelivery = {
  [E in keyof webhooks]: webhooks[E] extends {
    post: {
      requestBody: {
        content: {
          "application/json": infer Body;
        };
      };
    };
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
export declare class WebhookRefused extends Error {
  readonly code: WebhookRefusal;
  constructor(code: WebhookRefusal, message: string);
}
/** Resolves to the body. @throws WebhookRefused */
export declare function verifyWebhook(options: VerifyOptions): Promise<WebhookDelivery>;
