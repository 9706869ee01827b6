// A refused form is shown again with what was typed, and an error of ours is logged once even when that fails.
import Fastify from "fastify";
import { expect, it } from "vitest";
import { shownAgain } from "../../../src/portal/shell/form-route.ts";
import type { PortalVisit } from "../../../src/portal/shell/request-visit.ts";

it("answers with the error page and logs the error once when the form can't be shown again", async () => {
  const logged: string[] = [];
  const app = Fastify({ logger: { level: "error", stream: { write: (line) => logged.push(line) } } });
  app.addHook("onRequest", async (request) => {
    const assets = { url: (file: string) => file };
    const of = { session: { role: "owner" }, accounts: [], home: "/portal" };
    request.visit = { ...of, theme: "system", assets } as unknown as PortalVisit;
  });
  const errorHandler = shownAgain(() => Promise.reject(new Error("the read store is away")));
  app.post("/form", { errorHandler }, () => Promise.reject(new Error("the event store is away")));
  const { statusCode, body } = await app.inject({
    ...{ method: "POST", url: "/form" },
    headers: { accept: "text/html" },
  });
  expect([statusCode, body.includes("went wrong on our side")]).toEqual([500, true]);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("the event store is away");
});
