// OpenAPI names the codes of errors, which programs go by, at the status that they are answered with.
import { expect, it } from "vitest";
import { httpErrorOf } from "../../../src/api/http-errors.ts";
import { apiErrors } from "../../../src/api/schemas.ts";
import { REFUSALS, type RefusalCode, Refused } from "../../../src/commands/refusals.ts";
import { EventNewer, EventUnreadable } from "../../../src/events/read-event.ts";
import { DomainError } from "../../../src/runtime/errors.ts";

/** Errors that are no refusals. */
class Coded extends DomainError {
  override readonly code: string;
  constructor(code: string) {
    super("of a test");
    this.code = code;
  }
}

const errorOf = (code: string) =>
  code in REFUSALS ? new Refused(code as RefusalCode, "of a test") : new Coded(code);

it.each(Object.entries(apiErrors(400, 401, 402, 403, 404, 409, 412, 422)))(
  "the codes of %s are answered with it",
  (status, { description = "" }) => {
    const codes = [...description.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code);
    expect(codes).not.toEqual([]);
    for (const code of codes)
      expect(httpErrorOf(errorOf(code)), code).toMatchObject({ status: Number(status), code });
  },
);

it("an event that can't be read, or not yet, is answered with a code, and without what the event contains", () => {
  const unreadable = httpErrorOf(new EventUnreadable("LinkCreated: https://private.example"));
  expect(unreadable).toMatchObject({ status: 500, code: "event_unreadable" });
  const newer = httpErrorOf(new EventNewer("LinkCreated: https://private.example"));
  expect(newer).toMatchObject({ status: 503, code: "event_newer", retryAfter: 2 });
  expect(JSON.stringify([unreadable, newer])).not.toContain("private");
});
