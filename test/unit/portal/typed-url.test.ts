// Which typed texts are taken as addresses without a scheme.
import { expect, it } from "vitest";
import { typedUrl } from "../../../src/portal/links/urls.ts";

it.each([
  "example.com",
  "example.com/foo",
  "www.example.com?x=1",
  "example.com:8080/x",
  "localhost:3000/x",
  "localhost",
  "host:8080/path",
  "bücher.example/ä",
  "[::1]:3000/",
  "192.0.2.1/x",
])("takes %s as https", (typed) => {
  expect(typedUrl(typed)).toBe(`https://${typed}`);
});

it.each([
  "https://example.com/",
  "HTTP://example.com/",
  "ftp://example.com/",
  "javascript:alert(1)",
  "javascript:1",
  "mailto:me@example.com",
  "me@example.com",
  "tel:911",
  "data:text/html,x",
  "hello",
  "/foo",
  "",
])("leaves %s to be judged as it is", (typed) => {
  expect(typedUrl(typed)).toBe(typed);
});

it("takes an address that begins with two slashes as https", () => {
  expect(typedUrl("//example.com/x")).toBe("https://example.com/x");
});

it("needs no longer for a long text", () => {
  const started = performance.now();
  for (const typed of ["a.".repeat(50_000), "a".repeat(100_000), ":1".repeat(50_000)]) typedUrl(`${typed}@`);
  expect(performance.now() - started).toBeLessThan(500);
});
