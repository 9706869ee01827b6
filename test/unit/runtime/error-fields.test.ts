// The fields of an error in a log line, and what is removed from them.
import { describe, expect, it } from "vitest";
import { errorFields } from "../../../src/runtime/error-fields.ts";

describe("the fields of an error", () => {
  it("are its class, code, message, stack and causes, and no other property", () => {
    class StoreGone extends Error {}
    const root = Object.assign(new TypeError("refused"), { code: "ECONNREFUSED", address: "10.1.2.3" });
    const error = Object.assign(new StoreGone("no store", { cause: root }), { request: { headers: {} } });
    expect(errorFields(error)).toEqual({
      type: "StoreGone",
      message: "no store",
      stack: expect.stringMatching(/^Error: no store\n +at .+error-fields\.test\.ts\S*:\d+/),
      cause: { type: "TypeError", code: "ECONNREFUSED", message: "refused", stack: expect.any(String) },
    });
  });

  it("are unchanged by a structured clone to another thread", () => {
    const fields = errorFields(new Error("no", { cause: new Error("because") }));
    expect(errorFields(structuredClone(fields))).toEqual(fields);
  });

  it("contain each error of an aggregate, which has no message of its own", () => {
    const refused = ["::1", "127.0.0.1"].map((host) => new Error(`connect ECONNREFUSED ${host}:2113`));
    expect(errorFields(new AggregateError(refused))).toMatchObject({
      type: "AggregateError",
      message: "connect ECONNREFUSED ::1:2113; connect ECONNREFUSED 127.0.0.1:2113",
      errors: [{ type: "Error" }, { type: "Error" }],
    });
  });

  it("hide URLs, e-mail addresses and keys, in causes too", () => {
    const personal = [
      "https://example.com/private?q=1",
      "mongodb://root:secret@db.internal:27017/links",
      "someone@example.com",
      `ll_${"a1".repeat(16)}`,
      `whk_${"Z9".repeat(16)}`,
    ];
    const text = JSON.stringify(
      errorFields(new Error(personal.join(" "), { cause: new Error(personal.join(" ")) })),
    );
    for (const secret of personal) expect(text).not.toContain(secret);
    expect(text).toContain("(url) (url) (email) (key) (key)");
  });

  it("describe a thrown value that is no error", () => {
    expect(errorFields("no")).toEqual({ type: "string", message: "no" });
    expect(errorFields({ password: "secret" })).toEqual({ type: "object", message: "[object Object]" });
  });

  it("end when causes are circular", () => {
    const error = new Error("one");
    error.cause = error;
    expect(JSON.stringify(errorFields(error)).length).toBeLessThan(100_000);
  });
});
