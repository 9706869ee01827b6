// The DNS records that a domain's page asks for.
import { expect, it } from "vitest";
import { domainCards } from "../../../src/portal/account/domains-page.ts";
import { htmlText } from "../../../src/portal/shell/html.ts";
import { cards } from "../../../src/portal/shell/layout.ts";
import type { DomainDocument } from "../../../src/projections/definitions/domains.ts";

const added = {
  hostname: "go.example.com",
  token: "t",
  state: "added",
  recordLostAt: null,
} as DomainDocument;

function shown(baseHost: string): string {
  return htmlText(cards(domainCards(added, baseHost)));
}

it("a CNAME leads to the service, but for a name that only its own machine has", () => {
  expect(shown("short.example")).toMatch(/id="cname-value">short\.example\.</);
  for (const here of ["localhost", "127.0.0.1", "[::1]"]) {
    expect(shown(here)).toContain(`None yet: this service is at ${here}`);
    expect(shown(here)).not.toContain("cname-value");
  }
});
