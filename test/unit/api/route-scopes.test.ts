// Every route that wants a key has a scope.
import Fastify from "fastify";
import { expect, it } from "vitest";
import type { Api } from "../../../src/api/fastify.ts";
import { scopeOf, scopeRoutes } from "../../../src/api/route-scopes.ts";

function keyed(): Api {
  const app = Fastify({
    schemaController: { compilersFactory: { buildSerializer: () => () => JSON.stringify } },
  }) as unknown as Api;
  scopeRoutes(app);
  return app;
}

it("lets no route start that has no scope, and names it", () => {
  const app = keyed();
  expect(() => app.get("/api/v1/secrets", async () => "all")).toThrow(
    "GET /api/v1/secrets has no scope: give it a row in route-scopes.ts",
  );
  expect(() => scopeOf({})).toThrow("This route has no scope");
});

it("gives HEAD the scope of its GET", async () => {
  const app = keyed();
  app.get("/api/v1/links", async (request, reply) =>
    reply.header("x-scope", scopeOf(request.routeOptions.config)).send(),
  );
  const answers = await Promise.all([
    app.inject("/api/v1/links"),
    app.inject({ method: "HEAD", url: "/api/v1/links" }),
  ]);
  expect(answers.map(({ headers }) => headers["x-scope"])).toEqual(["links:read", "links:read"]);
});
