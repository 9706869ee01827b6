// The OpenAPI document's section of webhooks: each event that one can get, with its headers, body and an example.
import type { WebhookEventName } from "../../events/webhook-selection.ts";
import { TRIES_IN_WORDS } from "../../webhooks/delivery/schedule.ts";
import { DELIVERY_SCHEMAS } from "../../webhooks/routing/delivery-schemas.ts";
import { samplePayload } from "../../webhooks/routing/sample-payload.ts";

const SUMMARIES: Readonly<Record<WebhookEventName, string>> = {
  "link.clicked": "A short link was followed",
  "link.created": "A link was made",
  "link.updated": "A link was changed, disabled, enabled, restored, blocked or unblocked",
  "link.deleted": "A link was deleted",
  "link.expired": "A link is past its `expires_at`",
  "link.limit_reached": "The `max_clicks` of a link are used up",
};

const DESCRIPTION =
  "Sent to the webhooks that chose this event, at least once, and not always in order. Webhooks are managed in the " +
  "portal. Verify `X-API-Key` or `webhook-signature` (standardwebhooks.com) before you trust a body.";

const SAMPLE_AT = Date.parse("2026-03-01T10:14:59.870Z");

/** What every delivery carries beside its body, with what it means. */
const HEADERS: readonly [name: string, description: string, example: string][] = [
  ["X-API-Key", "The webhook's key, to be compared in constant time", "whk_4Xn0Qz7bTfK2mLw9Rc5VyHs8Jd3GaPeU"],
  ["X-Webhook-Event", "The event", ""],
  ["X-Webhook-Timestamp", "When this attempt was made, ISO 8601 UTC", "2026-03-01T10:15:00.412Z"],
  ["User-Agent", "The sender and its version", "service-webhooks/2.0"],
  [
    "webhook-id",
    "The delivery's id, the same on every attempt: recognise duplicates by it",
    "019532f1-6c1e-7a10-8b11-3c5d7e9f1a2b",
  ],
  ["webhook-timestamp", "When this attempt was made, in seconds since 1970", "1772360100"],
  [
    "webhook-signature",
    "Signatures with spaces between them, of which one has to fit. `v1,`: base64 of HMAC-SHA256 over " +
      "`<webhook-id>.<webhook-timestamp>.<body>`, keyed with the webhook's key; `v1a,`: that of Ed25519 over the same, by the " +
      "webhook's public key",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==",
  ],
];

/**
 * `baseUrl`: of the links in the examples. `schemas`: the document's, from which those of bodies are taken: oapi-codegen
 * writes no type for a schema that webhooks alone refer to.
 */
export function webhooksSection(baseUrl: string, schemas: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    DELIVERY_SCHEMAS.map(({ name, schema }) => {
      const { id = "" } = schema.meta() ?? {};
      const body = schemas[id];
      delete schemas[id];
      const post = {
        operationId: `on ${name}`.replace(/[ ._](\w)/g, (_, letter: string) => letter.toUpperCase()),
        summary: SUMMARIES[name],
        description: DESCRIPTION,
        tags: ["Webhooks"],
        security: [],
        parameters: HEADERS.map(([header, description, example]) => ({
          name: header,
          in: "header",
          required: true,
          description,
          schema: { type: "string" },
          example: example || name,
        })),
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: body,
              example: JSON.parse(samplePayload(name, baseUrl, SAMPLE_AT)),
            },
          },
        },
        responses: {
          "2XX": { description: "Within 15 seconds: it is delivered" },
          "410": { description: "The webhook is paused" },
          default: { description: `Tried again, ${TRIES_IN_WORDS}` },
        },
      };
      return [name, { post }];
    }),
  );
}
