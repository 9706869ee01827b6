// The OpenAPI document as tools and readers take it: clean under Redocly's rules, with webhooks as they are sent, examples
// that work, and the links between pages.

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { KEY_SCOPES } from "../../src/events/vocabulary.ts";
import { WEBHOOK_EVENTS } from "../../src/events/webhook-selection.ts";
import { samplePayload } from "../../src/webhooks/routing/sample-payload.ts";
import { PASSWORD, visitor } from "../support/portal/browser-like.ts";
import { until } from "../support/runtime/until.ts";
import type { Answer } from "../support/service/ask.ts";
import {
  BASE_URL,
  type Member,
  startTestService,
  type TestService,
} from "../support/service/start-service.ts";
import { sendSample } from "../support/webhooks/send-sample.ts";

type Json = Record<string, unknown>;
type Content = { "application/json"?: { schema: Json; examples?: Record<string, { value: Json }> } };
type Operation = {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content; headers?: Json }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Json> };
};

/** Rules that our interface can't keep. */
const OFF = {
  // Redirects are what the service is for: they have no 2xx.
  "operation-2xx-response": "off",
  // The address of a service on a machine of one's own.
  "no-server-example.com": "off",
} as const;

describe("the OpenAPI document", () => {
  let service: TestService;
  let member: Member;
  let document: Document;
  let text: string;

  beforeAll(async () => {
    service = await startTestService();
    member = await service.member("developer");
    const { key } = await service.issueKey(member.accountId, { scopes: KEY_SCOPES });
    member = { ...member, key };
    const answer = await service.ask<Document>("/openapi.json");
    document = answer.body;
    text = answer.text;
  });
  afterAll(() => service.stop());

  const schemaOf = (schema: Json) => {
    const local = (part: unknown) =>
      JSON.parse(JSON.stringify(part).replaceAll("#/components/schemas/", "#/$defs/"));
    return z.fromJSONSchema({ ...local(schema), $defs: local(document.components.schemas) });
  };
  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );

  it("keeps the rules that Redocly recommends, examples against their schemas included", async () => {
    const config = await createConfig({ extends: ["recommended"], rules: OFF });
    const problems = await lintFromString({ source: text, config });
    const said = problems.map(({ ruleId, message, location }) => [ruleId, location[0]?.pointer, message]);
    expect(said).toEqual([]);
  });

  it("has no two operations of one name, so that clients have a method for each", () => {
    const names = [
      ...operations().map(({ operation }) => operation.operationId),
      ...Object.values(document.webhooks).map(({ post }) => post.operationId),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  it("says no bounds in a way that generators of clients don't know", () => {
    expect(text).not.toMatch(/exclusiveM(in|ax)imum/);
  });

  it("describes every event that a webhook can get, with the body that is sent", () => {
    expect(Object.keys(document.webhooks)).toEqual([...WEBHOOK_EVENTS]);
    for (const name of WEBHOOK_EVENTS) {
      const schema = document.webhooks[name]?.post.requestBody?.content["application/json"]?.schema ?? {};
      const sent = JSON.parse(samplePayload(name, BASE_URL, Date.now()));
      const { error } = schemaOf(schema).safeParse(sent);
      expect([name, error ? z.prettifyError(error) : ""]).toEqual([name, ""]);
      expect(schemaOf(schema).safeParse({ ...sent, event: "another" }).success).toBe(false);
    }
  });

  it("names the headers that a delivery carries, all of them", async () => {
    const { promise: received, resolve } = Promise.withResolvers<IncomingHttpHeaders>();
    const receiver = createServer((request, answer) => {
      resolve(request.headers);
      answer.end();
    });
    await new Promise<void>((onListening) => receiver.listen(0, "127.0.0.1", onListening));
    const { port } = receiver.address() as AddressInfo;
    await sendSample(`http://127.0.0.1:${port}/`);
    receiver.close();
    const transport = ["host", "connection", "content-length", "content-type", "transfer-encoding"];
    const sent = Object.keys(await received).filter((name) => !transport.includes(name));
    for (const { post } of Object.values(document.webhooks)) {
      const described = (post.parameters ?? []).map(({ name }) => name.toLowerCase());
      expect(described.sort()).toEqual(sent.sort());
    }
  });

  it("has examples of requests that the service accepts as they are", async () => {
    const domain_id = await service.domain(member.accountId, "examples.example.org");
    await service.post("/api/v1/shorten", member.key, { url: "https://example.com/", tags: ["spring"] });
    type Tags = { tags: object[] };
    const isListed = async () =>
      (await service.ask<Tags>("/api/v1/tags", { key: member.key })).body.tags.length > 0;
    await until("the tag to be listed", isListed);
    const to = { email: "viewer@example.org", role: "viewer" };
    const invited = await service.post<{ link: string }>("/api/v1/invitations", member.key, to);
    const { pathname, search, searchParams } = new URL(invited.body.link);
    const fields = { ...Object.fromEntries(searchParams), password: PASSWORD };
    await visitor(service.port).submit(pathname + search, fields, "/portal/invitation");
    type Members = { members: { person_id: string; role: string }[] };
    const { members } = (await service.ask<Members>("/api/v1/members", { key: member.key })).body;
    const colleague = String(members.find(({ role }) => role === "viewer")?.person_id);
    const sent: string[] = [];
    for (const { path, method, operation } of operations()) {
      const examples = operation.requestBody?.content["application/json"]?.examples ?? {};
      for (const [name, { value }] of Object.entries(examples)) {
        const { body: link } = await service.post<{ slug: string }>("/api/v1/shorten", member.key, {
          url: "https://example.com/",
        });
        if (operation.operationId === "restoreLink")
          await service.ask(`/api/v1/links/${link.slug}`, { method: "DELETE", key: member.key });
        const body = JSON.stringify(value)
          .replaceAll(/"domain_id":"[^"]*"/g, `"domain_id":"${domain_id}"`)
          .replaceAll(/"slug":"[^"]*"/g, `"slug":"${link.slug}"`);
        const address = path
          .replace("{slug}", link.slug)
          .replace("{tag}", "spring")
          .replace("{person_id}", colleague);
        const answer = await service.ask(address, { method: method.toUpperCase(), key: member.key, body });
        const about = `${operation.operationId} ${name}: ${answer.text}`;
        expect([200, 201], about).toContain(answer.status);
        sent.push(operation.operationId);
      }
    }
    const withBody = operations().filter(({ operation }) => operation.requestBody);
    expect(new Set(sent)).toEqual(new Set(withBody.map(({ operation }) => operation.operationId)));
  });

  it("has examples of refusals in the service's own words", async () => {
    const { key } = member;
    const post = (body: object) => service.post("/api/v1/shorten", key, body);
    const domain_id = await service.domain(member.accountId, "go.example.org");
    const own = { url: "https://example.com/", customSlug: "spring-sale", domain_id };
    const { body: link } = await post({ url: "https://example.com/" });
    await post(own);
    const patch = { method: "PATCH", key, headers: { "if-match": '"7"' }, body: { title: "x" } };
    const refused = {
      "shorten 400": await post({ url: "nonsense" }),
      "shorten 409": await post(own),
      "changeLink 412": await service.ask(`/api/v1/links/${link.slug}`, patch),
    };
    for (const [name, { body }] of Object.entries(refused)) {
      const [id, status = ""] = name.split(" ");
      const { operation } = operations().find(({ operation }) => operation.operationId === id) ?? {};
      const examples = operation?.responses[status]?.content?.["application/json"]?.examples ?? {};
      const [example] = Object.values(examples).map(({ value }) => value);
      expect([name, example?.error, example?.code]).toEqual([name, body.error, body.code]);
    }
  });

  it("has an Idempotency-Key for each operation that writes and no other, and they take it", async () => {
    const all = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([method]) => path.startsWith("/api/") && method !== "parameters")
        .map(([method, { parameters = [] }]) => ({
          ...{ path, method: method.toUpperCase() },
          isKeyed: parameters.some(({ name }) => name.toLowerCase() === "idempotency-key"),
        })),
    );
    const writing = all.filter(({ method }) => method !== "GET" && method !== "HEAD");
    expect(all.filter(({ isKeyed }) => isKeyed)).toEqual(writing);
    expect(writing.length).toBeGreaterThan(7);
    for (const { path, method } of writing) {
      const { body } = await service.ask(path.replace(/\{\w+\}/g, "abc"), {
        ...{ method, key: member.key, headers: { "idempotency-key": "x".repeat(256) } },
        body: path.includes("bulk")
          ? { links: [{ url: "https://example.com/", slug: "abc" }] }
          : { url: "https://example.com/" },
      });
      // Before the body is looked at, or after.
      if (body.code !== "invalid_request")
        expect([path, method, body.code]).toEqual([path, method, "invalid_idempotency_key"]);
    }
  });

  it("leads from page to page by Link headers, wherever an answer has a cursor", async () => {
    const { key } = member;
    for (const url of ["https://example.com/1", "https://example.com/2", "https://example.com/3"])
      await service.post("/api/v1/shorten", key, { url });
    const pages = operations().filter(({ operation }) =>
      (operation.parameters ?? []).some(({ name }) => name === "cursor"),
    );
    expect(pages.map(({ path }) => path)).toContain("/api/v1/links");
    for (const { operation } of pages) expect(operation.responses[200]?.headers).toHaveProperty("Link");

    const seen: string[] = [];
    let address: string | undefined = "/api/v1/links?limit=2&q=example.com";
    while (address !== undefined) {
      type Page = { links: { short_url: string }[]; next_cursor: string | null };
      const { body, headers }: Answer<Page> = await service.ask<Page>(address, { key });
      seen.push(...body.links.map(({ short_url }) => short_url));
      expect(headers.link).toContain('</api/v1/links?limit=2&q=example.com>; rel="first"');
      address = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1];
      expect(address === undefined).toBe(body.next_cursor === null);
    }
    const all = await service.ask<{ total: number }>("/api/v1/links?limit=100&q=example.com", { key });
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(all.body.total);
    expect((await service.ask("/api/v1/links?limit=0", { key })).headers).not.toHaveProperty("link");
  });
});
