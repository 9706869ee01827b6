// Whatever is sent to what the OpenAPI document describes, right or wrong: answers are those that it describes, none is an
// error of the service, and a refusal says in our words which field is wrong, and what it may be.

import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { KEY_SCOPES } from "../../src/events/vocabulary.ts";
import { anyText } from "../support/runtime/any-text.ts";
import { effort } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { arbitraryOf, type JsonSchema } from "../support/service/schema-arbitrary.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

type Content = Record<string, { schema: JsonSchema }>;
type Parameter = {
  name: string;
  in: "path" | "query" | "header";
  schema: JsonSchema;
  example?: unknown;
};
type Operation = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
};
type Request = { path: string; method: string; operation: Operation; arbitrary: fc.Arbitrary<Sent> };
type Sent = {
  slug: string;
  query: Record<string, unknown>;
  headers: Record<string, unknown>;
  body: unknown;
  caller: number;
};

const WORDS_OF_ZOD =
  /invalid (input|option|string|key|element|uuid)|expected|received|too (small|big)|unrecognized/i;
/** `body: must be an object`, `query field "limit": must be at least 1`, `If-Match must be ...` */
const FIELD_AND_ALLOWED =
  /^((body|query|params|headers)( field ".+")?:|If-Match|Idempotency-Key|The body|[\w.]+:?) .*(must|can't|missing|needs|nested)/s;
const LOCATION = "https://example.com/";
/** A key may ask 500 times an hour. */
const SECONDS_APART = 60;
/** Most links would soon be deleted. */
const RESTORED_EVERY = 20;
let now = Date.parse("2026-05-01T00:00:00Z");
let service: TestService;
let callers: (string | undefined)[];
let slugs: string[];
let requests: Request[];
let schemas: Record<string, JsonSchema>;
const counts: Record<string, number> = {};
let asked = 0;

beforeAll(async () => {
  service = await startTestService({}, () => new Date(now));
  const [developer, other, free] = await Promise.all([
    service.member("developer"),
    service.member("developer"),
    service.member("free"),
  ]);
  const all = await service.issueKey(developer.accountId, { scopes: KEY_SCOPES });
  developer.key = all.key;
  callers = [...Array(8).fill(developer.key), other.key, free.key, undefined, "nonsense"];
  const made = async (key: string, more: object = {}) =>
    (await service.post<{ slug: string }>("/api/v1/shorten", key, { url: LOCATION, ...more })).body.slug;
  const domain_id = await service.domain(developer.accountId, "any.example.org");
  const deleted = await made(developer.key);
  await service.ask(`/api/v1/links/${deleted}`, { method: "DELETE", key: developer.key });
  slugs = [
    ...(await Promise.all(Array.from({ length: 8 }, () => made(developer.key)))),
    ...[deleted, await made(other.key), await made(free.key)],
    // In lower case it is the path of bulk requests.
    (await made(developer.key, { domain_id, customSlug: "bulk" })).toUpperCase(),
  ];
  const document = (await service.ask<Document>("/openapi.json")).body;
  const list = await service.ask<{ next_cursor: string }>("/api/v1/links?limit=1", { key: developer.key });
  const none = [undefined, undefined, undefined];
  const known = {
    // Undefined where it is mostly left out.
    ...{ slug: slugs, domain_id: [domain_id, ...none], url: [LOCATION], cursor: [list.body.next_cursor] },
    ...{ after: none, "last-event-id": none },
    ...{ person_id: [developer.accountId], email: ["colleague@example.com"] },
    "if-match": ['"0"', '"1"', '"0", "2"', 'W/"0"', "*", ...none],
    ...{
      customSlug: ["spring-sale", ...none],
      external_id: Array.from({ length: 100 }, (_, n) => `id ${n}`),
    },
    "idempotency-key": Array.from({ length: 100 }, (_, n) => `key ${n}`),
  };
  const { components, paths: described } = withExamples(document, known);
  schemas = components.schemas;
  const paths = Object.entries(described).filter(([path]) => path.startsWith("/api/"));
  requests = paths.flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => !isStream(operation))
      .map(([method, operation]) => ({
        ...{ path, method: method.toUpperCase(), operation },
        arbitrary: fc.oneof(sentTo(operation, true), sentTo(operation, false)),
      })),
  );
});
afterAll(async () => {
  await service.stop();
  printCounts("answers to what OpenAPI describes", counts);
});

it("answers as it describes, without an error of its own", async () => {
  const any = fc.oneof(...requests.map(({ arbitrary, ...of }) => arbitrary.map((sent) => ({ ...of, sent }))));
  await fc.assert(
    fc.asyncProperty(any, async ({ sent, ...request }) => {
      if (asked++ % RESTORED_EVERY === 0) await restoreAll();
      await answers(request, sent);
    }),
    { numRuns: effort(800, 3000), interruptAfterTimeLimit: 60_000 },
  );
  const seen = Object.keys(counts).map((name) => name.split(" ")[0]);
  expect(new Set(seen)).toEqual(new Set(requests.map(({ operation }) => operation.operationId)));
}, 120_000);

async function restoreAll(): Promise<void> {
  now += SECONDS_APART * 1000 * slugs.length;
  const restore = (slug: string) =>
    service.ask(`/api/v1/links/${slug}/restore`, { method: "POST", key: callers[0] as string });
  await Promise.all(slugs.map(restore));
}

async function answers({ path, method, operation }: Omit<Request, "arbitrary">, sent: Sent): Promise<void> {
  now += SECONDS_APART * 1000;
  const key = callers[sent.caller];
  const query = new URLSearchParams(
    Object.entries(sent.query)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]): [string, string] => [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
  );
  const headers = Object.fromEntries(
    Object.entries(sent.headers)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)] as const)
      .filter(([, value]) => /^[\x20-\x7e]*$/.test(value)),
  );
  const address = `${path.replace("{slug}", encodeURIComponent(sent.slug.toWellFormed()))}?${query}`;
  const { status, body, text, ...answer } = await service.ask<unknown>(address, {
    ...{ method, headers },
    ...(key !== undefined && { key }),
    ...(operation.requestBody && { body: JSON.stringify(sent.body) ?? "" }),
  });
  const about = `${method} ${address} ${JSON.stringify(sent.body)} ${JSON.stringify(headers)}: ${status} ${text.slice(0, 500)}`;
  const counted = `${operation.operationId} ${status}`;
  counts[counted] = (counts[counted] ?? 0) + 1;
  expect(status, about).toBeLessThan(500);
  expect(Object.keys(operation.responses), about).toContain(String(status));
  if (method === "HEAD") return;
  if (status >= 400) {
    expect(body, about).toEqual({
      error: expect.any(String),
      code: expect.stringMatching(/^[a-z_]+$/),
      request_id: answer.headers["x-request-id"],
    });
    const { error, code } = body as { error: string; code: string };
    expect(error, about).not.toMatch(WORDS_OF_ZOD);
    if (code === "invalid_request") expect(error, about).toMatch(FIELD_AND_ALLOWED);
    return;
  }
  const { errors = [] } = (body ?? {}) as { errors?: { error: string; code: string }[] };
  for (const { error, code } of errors) {
    expect(error, about).not.toMatch(WORDS_OF_ZOD);
    if (code === "invalid_item") expect(error, about).toMatch(/^Invalid link: .*(must|can't|missing|needs)/);
  }
  const described = operation.responses[status]?.content?.["application/json"]?.schema;
  if (!described || body === undefined) return;
  const checked = answerSchema(described).safeParse(body);
  expect(checked.error ? z.prettifyError(checked.error) : "", about).toBe("");
}

/** Its answer doesn't end. */
function isStream({ responses }: Operation): boolean {
  return "text/event-stream" in (responses[200]?.content ?? {});
}

function sentTo({ parameters = [], requestBody }: Operation, mistakes: boolean): fc.Arbitrary<Sent> {
  const own = { all: schemas, mistakes };
  const of = (place: Parameter["in"]) =>
    fc.record(
      Object.fromEntries(
        parameters
          .filter((one) => one.in === place)
          .map(({ name, schema }) => [name, arbitraryOf(schema, own)]),
      ),
      { requiredKeys: [] },
    );
  const schema = requestBody?.content["application/json"]?.schema;
  return fc.record({
    slug: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...slugs) },
      // Without one it is another path.
      anyText(60).filter((text) => text !== "" && text !== "bulk"),
    ),
    query: of("query"),
    headers: of("header"),
    body: schema ? arbitraryOf(schema, own) : fc.constant(undefined),
    caller: fc.nat(callers.length - 1),
  });
}

/** With values that there are, which would hardly ever be hit: by the names of members and parameters. */
function withExamples(document: Document, known: Readonly<Record<string, unknown[]>>): Document {
  return JSON.parse(JSON.stringify(document), (name: string, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    const { in: place, name: named = "", schema, example } = value as Partial<Parameter>;
    if (place) {
      const examples = known[named] ?? (example === undefined ? undefined : [example]);
      return { ...value, schema: { ...schema, ...(examples && { examples }) } };
    }
    const examples = known[name];
    if (!examples) return value;
    return "type" in value ? { ...value, examples } : value;
  });
}

function answerSchema(schema: JsonSchema): z.ZodType {
  const local = (given: unknown) =>
    JSON.parse(JSON.stringify(given).replaceAll("#/components/schemas/", "#/$defs/"));
  return z.fromJSONSchema({ ...local(schema), $defs: local(schemas) });
}
