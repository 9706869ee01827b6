// What a bulk request answers of items that failed: the code of each is the one that the request for it alone would get.
import type { FastifyRequest } from "fastify";
import { expect, it } from "vitest";
import { httpErrorOf } from "../../../src/api/http-errors.ts";
import { bulkAnswer } from "../../../src/api/links/bulk-answer.ts";
import { Refused } from "../../../src/commands/refusals.ts";
import { Failure } from "../../../src/runtime/errors.ts";
import { StoreUnavailable } from "../../../src/stores/connections/errors.ts";

it("has the code of the single request for each item that failed, and the words of a refusal alone", () => {
  const errors = [
    new Refused("slug_taken", "It is taken"),
    new Failure("Every slug that was drawn is taken"),
    new StoreUnavailable("read.db: disk gone"),
    new TypeError("cannot read secret.path"),
  ];
  const links = errors.map((_, n) => ({ url: `https://example.com/${n}` }));
  const caller = { tier: "developer" };
  const request = { caller, body: { links }, log: { error: () => undefined }, keyed: {} };
  const failures = errors.map((error, index) => ({ index, error }));
  const answer = bulkAnswer(
    request as unknown as FastifyRequest<{ Body: { links: unknown[] } }>,
    { results: [], failures },
    { named: "url", failed: "It failed" },
  );
  expect(answer.errors.map(({ code }) => code)).toEqual(errors.map((error) => httpErrorOf(error).code));
  expect(answer.errors.map(({ error }) => error)).toEqual([
    "It is taken",
    "It failed",
    "It failed",
    "It failed",
  ]);
  expect(request.keyed).toBeUndefined();
});
