// The account in the addresses of pages: put in and taken off without a change of anything else, and never where it is not due.
import fc from "fast-check";
import { expect, it } from "vitest";
import { accountIn, addressedText, addressIn, withoutAccount } from "../../../src/portal/account-address.ts";
import { accessAt, rightOf } from "../../../src/portal/route-rights.ts";
import { html, htmlText } from "../../../src/portal/shell/html.ts";
import { listPortalRoutes } from "../../support/portal/portal-routes.ts";

const session = { accountId: "7d3f0a52-1c7e-4b0e-9a1f-2f6c1f0f9a11", role: "viewer" } as const;
const { accountId } = session;

it("is put into a path and taken off again, and no other path has one", () => {
  fc.assert(
    fc.property(fc.webPath(), fc.webQueryParameters(), fc.uuid(), (path, query, id) => {
      const page = `/portal${path}?${query}`;
      expect(withoutAccount(addressIn(id, page))).toBe(page);
      expect(accountIn(addressIn(id, page))).toBe(id);
      if (accountIn(page) === undefined) expect(withoutAccount(page)).toBe(page);
      expect(withoutAccount(`/${id}${path}`)).toBe(`/${id}${path}`);
    }),
  );
});

it("has each route known by its right, whatever stands in its parameters", async () => {
  const routes = (await listPortalRoutes()).filter(({ url }) => url.startsWith("/portal"));
  const part = fc.string({ minLength: 1 }).map((text) => encodeURIComponent(text).replaceAll(".", "%2E"));
  fc.assert(
    fc.property(
      fc.constantFrom(...routes),
      fc.array(part, { minLength: 4, maxLength: 4 }),
      (route, parts) => {
        const values = [...parts];
        const address = route.url.replace(/:\w+/g, () => values.pop() ?? "x");
        if (RESERVED.test(address)) return;
        const method = route.method === "GET" ? "GET" : "POST";
        expect([address, accessAt(method, `${address}?a=/b#c`)]).toEqual([
          address,
          rightOf(`${route.method} ${route.url}`),
        ]);
      },
    ),
  );
});
/** Where a parameter happens to be another route's word. */
const RESERVED = /\/(?:several|filters|remove|new|many|names|mails|invitations)\//;

it("is in no text that somebody typed, in nothing of other sites, and in links to its own pages alone", () => {
  const typed = `"/portal/links" href="/portal/links" <a href="/portal/links">`;
  const page = htmlText(html`<p title="${typed}">${typed}</p><input value="/portal/links">
<a href="/portal/links?q=1#x">Links</a><a class="button" href="/portal/keys">Keys</a><a href="/portal/plan">Plan</a>
<a href="/portal/sign-in">In</a><a href="/portal/assets/1/a.css">A</a><a href="https://example.com/portal/links">X</a>
<form method="post" action="/portal/links"></form>`);
  const text = addressedText(page, session);
  const own = `/portal/${accountId}/links`;
  expect(text.split(own)).toHaveLength(3);
  expect(text).toContain(`<a href="${own}?q=1#x">Links</a>Plan\n`);
  expect(text).not.toContain("Keys");
  for (const same of ["/portal/sign-in", "/portal/assets/1/a.css", "https://example.com/portal/links"])
    expect(text).toContain(`href="${same}"`);
  expect(text.replace(own, "/portal/links").split("\n")[0]).toBe(page.split("\n")[0]);
});
