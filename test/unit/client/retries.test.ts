// How long the client waits where an answer says when to try again.
import { expect, it } from "vitest";
import { retryAfterMs } from "../../../sdk/src/retries.js";

const asked = (text: string, status = 503) =>
  retryAfterMs(new Response("", { status, headers: { "retry-after": text } }));

it.each([
  ["3", 3_000],
  ["0", 0],
  ["1.5", 1_500],
  ["Wed, 21 Oct 2015 07:28:00 GMT", 0],
])("waits as %s asks", (text, ms) => {
  expect(asked(text)).toBe(ms);
});

it.each(["-1", "", "1,5", "soon", "1e3", "+1", "Infinity", "1 2"])(
  "waits of its own accord where %s says nothing",
  (text) => {
    expect(asked(text)).toBeUndefined();
  },
);

it("waits until a date, and not for what does not pass", () => {
  const soon = asked(new Date(Date.now() + 60_000).toUTCString()) ?? 0;
  expect(Math.abs(soon - 60_000)).toBeLessThan(2_000);
  expect(asked("3", 400)).toBeUndefined();
});
