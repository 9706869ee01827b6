// The OpenAPI 3.1 document, generated from the request schemas.
import swagger from "@fastify/swagger";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { VERSION } from "../../config/version.ts";
import type { Api } from "../fastify.ts";
import { addExamples } from "./examples.ts";
import { portable } from "./portable-schemas.ts";
import { webhooksSection } from "./webhooks-section.ts";

const DESCRIPTION = `Creates short links and reports who followed them.

Every \`/api/v1\` endpoint wants an API key in \`X-API-Key\`, or as \`Authorization: Bearer\`. Each answer under \`/api\` carries \`X-RateLimit-Limit\`,
\`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (Unix seconds) by the limits of the tier, which \`/docs/limits\` lists. Every error is \`{ "error", "code", "request_id" }\`.`;

const RATE_HEADERS = {
  "X-RateLimit-Limit": { description: "Hourly request limit", schema: { type: "integer" } },
  "X-RateLimit-Remaining": {
    description: "Requests remaining in the current hour",
    schema: { type: "integer" },
  },
  "X-RateLimit-Reset": { description: "Time the limit resets, in Unix seconds", schema: { type: "integer" } },
  "RateLimit-Policy": {
    description: "The limit `q` of `w` seconds, as draft-ietf-httpapi-ratelimit-headers has it",
    schema: { type: "string" },
    example: '"hour";q=500;w=3600',
  },
  RateLimit: {
    description: "Requests `r` that remain in the next `t` seconds",
    schema: { type: "string" },
    example: '"hour";r=499;t=3600',
  },
} as const;

const ETAG_HEADER = {
  ETag: { description: "The link's revision", schema: { type: "string" }, example: '"3"' },
};

const LINK_HEADER = {
  Link: {
    description: "RFC 8288: the first page, and the next unless this is the last",
    schema: { type: "string" },
    example: '</api/v1/links?cursor=eyJ2Ijo>; rel="next", </api/v1/links>; rel="first"',
  },
};

/** The redirect is not a Fastify route (redirect/http/handler.ts), so it is described by hand. */
const REDIRECT = {
  summary: "Follow a short link",
  description: "Redirects to the original URL and records a click. HEAD answers the same headers.",
  tags: ["Redirect"],
  security: [],
  parameters: [
    {
      name: "slug",
      in: "path" as const,
      required: true,
      example: "k7m2pqx",
      schema: { type: "string" as const },
    },
  ],
  responses: {
    301: { description: "Redirect to the original URL in Location" },
    302: {
      description:
        "The same for a link whose answer depends on visitor, time or clicks: to that of the first of its `rules` that " +
        "fits, or to `expired_url`; or by its `redirect_code`, as 307 and 308",
    },
    404: errorAnswer("Short link not found; not active yet, or expired, without an `expired_url`"),
    503: errorAnswer("The short link cannot be followed just now; Retry-After says when to try again"),
  },
};

function errorAnswer(description: string) {
  const schema = { $ref: "#/components/schemas/Error" };
  return { description, content: { "application/json": { schema } } };
}

/** Must be called before routes are registered, because the plugin collects them by an onRoute hook. */
export async function openApiDocument(app: Api, baseUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Linkledger",
        version: VERSION,
        description: `${DESCRIPTION}\n\nA typed client for JavaScript and TypeScript: \`npm install ${baseUrl}/sdk.tgz\`.`,
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: baseUrl }],
      components: {
        securitySchemes: {
          apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
          bearer: { type: "http", scheme: "bearer" },
        },
        headers: RATE_HEADERS,
      },
      security: [{ apiKey: [] }, { bearer: [] }],
      paths: {
        "/{slug}": {
          get: { ...REDIRECT, operationId: "redirect" },
          head: { ...REDIRECT, operationId: "verify", summary: "Verify a short link without following it" },
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => described(readable(jsonSchemaTransformObject(document)), baseUrl),
  });
}

/** GET /openapi.json. */
export function openApiRoute(app: Api): void {
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}

type Responses = Record<string, { headers?: Record<string, unknown>; content?: Record<string, object> }>;
type Operation = { operationId?: string; responses?: Responses; parameters?: { name: string }[] };
type Paths = Record<string, Record<string, Operation>>;
type OpenApi = ReturnType<typeof jsonSchemaTransformObject>;

/** By name, so that the document has them once: three quarters of its answers are alike. */
const RATE_HEADER_REFERENCES = Object.fromEntries(
  Object.keys(RATE_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

/** With the headers of answers, examples, and the section of webhooks. */
function described(document: OpenApi, baseUrl: string): OpenApi {
  const paths = (document as { paths?: Paths }).paths ?? {};
  for (const [path, operations] of Object.entries(paths)) {
    if (!path.startsWith("/api/")) continue;
    for (const operation of Object.values(operations)) {
      const { responses = {}, parameters = [] } = operation;
      const has = (...names: string[]) => parameters.some(({ name }) => names.includes(name));
      const hasTag = has("if-match", "if-none-match");
      const isPage = has("cursor") || (has("after") && has("limit"));
      for (const [status, response] of Object.entries(responses)) {
        const isTagged = hasTag && (status === "200" || status === "304");
        response.headers = {
          ...RATE_HEADER_REFERENCES,
          ...(isTagged && ETAG_HEADER),
          ...(isPage && status === "200" && LINK_HEADER),
          ...response.headers,
        };
      }
      addExamples(operation);
    }
  }
  return Object.assign(document, { webhooks: webhooksSection(baseUrl, schemasOf(document)) });
}

/**
 * Drops the duplicate `...Input` schemas, which equal those of responses but for members with defaults, that a request may
 * leave out, and the safe-integer bounds that zod adds to integers.
 */
function readable(document: OpenApi): OpenApi {
  const text = JSON.stringify(document).replace(/(#\/components\/schemas\/\w+?)Input"/g, '$1"');
  const bounded = JSON.parse(text, (_key, value: unknown) =>
    typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value,
  ) as OpenApi;
  const plain = portable(bounded);
  const schemas = schemasOf(plain) as Record<string, { required?: string[] }>;
  for (const [name, { required }] of Object.entries(schemas)) {
    if (!name.endsWith("Input")) continue;
    const published = schemas[name.slice(0, -"Input".length)];
    if (published?.required && required) published.required = required;
    delete schemas[name];
  }
  return plain;
}

function schemasOf(document: OpenApi): Record<string, unknown> {
  return (document as { components?: { schemas?: Record<string, unknown> } }).components?.schemas ?? {};
}
