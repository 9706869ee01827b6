// GET /admin/provider: how people sign in, what the provider's discovery answered, the claims that it sent last, and what would be
// decided of them now: what an operator looks at while it doesn't work yet.
import type { Api } from "../../api/fastify.ts";
import { LAST_CLAIMS_SECRET } from "../../commands/people/secrets.ts";
import type { SignInDecision } from "../../sign-in/oidc/decide-sign-in.ts";
import type { DiscoveryState, ProviderIdentity } from "../../sign-in/oidc/oidc-client.ts";
import { givenTo } from "../../sign-in/oidc/provider-groups.ts";
import { considerSignIn, type LastClaims, type Oidc } from "../../sign-in/oidc/sign-in-at-provider.ts";
import { CALLBACK_PATH, LOGOUT_PATH, SIGNED_OUT_PATH } from "../../sign-in/sign-in-flows.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { badge, type Card, copyable, time } from "../shell/layout.ts";
import type { ConsoleDeps } from "./access.ts";

import { sendConsolePage } from "./question-page.ts";

export function providerPage(app: Api, deps: ConsoleDeps): void {
  app.get("/provider", async (_request, reply) => {
    const { oidc, signIn } = deps;
    return sendConsolePage(reply, {
      nav: "Sign-in",
      lead: `People sign in by: ${signIn.join(", ")} (SIGN_IN).`,
      cards: oidc ? [providerCard(deps, oidc), await lastCard({ ...deps, oidc })] : [NO_PROVIDER],
    });
  });
}

const NO_PROVIDER: Card = {
  title: "No provider",
  lead: "OIDC_ISSUER is not set, or SIGN_IN leaves oidc out.",
};

function providerCard({ baseUrl }: ConsoleDeps, { client, joining }: Oidc): Card {
  const address = (id: string, path: string) => copyable(id, `${baseUrl}${path}`, "the address");
  return {
    title: "Provider",
    lead: "The three addresses are registered there, letter for letter.",
    facts: {
      OIDC_ISSUER: client.issuer,
      Discovery: discoveryText(client.look()),
      "Redirect address": address("callback", CALLBACK_PATH),
      "After signing out": address("signed-out", SIGNED_OUT_PATH),
      "Back-channel logout": address("logout", LOGOUT_PATH),
      Newcomers: typeof joining === "string" ? joining : `${joining.role} of ${joining.accountId}`,
    },
  };
}

function discoveryText(discovery: DiscoveryState): Html {
  switch (discovery.state) {
    case "not asked yet":
      return html`${badge("accent", "Not asked yet")} Reload the page.`;
    case "failed":
      return html`${badge("bad", "Failed")} ${time(discovery.at)}: <span class="break">${discovery.why}</span>`;
    case "discovered":
      return html`${badge("good", "Answered")} ${time(discovery.at)}${!discovery.endsSessions && ". It has no page to sign out there"}`;
  }
}

async function lastCard(deps: ConsoleDeps & { oidc: Oidc }): Promise<Card> {
  const title = "The last sign-in there";
  const last = (await deps.secrets.get(LAST_CLAIMS_SECRET, deps.clock())) as LastClaims | undefined;
  if (!last) return { title, lead: "Nobody has come back from the provider in the last day." };
  const { at, identity } = last;
  const { decision } = await considerSignIn(deps, identity);
  return {
    title,
    lead: "As the provider sent it, kept for a day; no token is kept here.",
    facts: {
      Came: time(at),
      "Decided of it now": html`<span class="break">${decisionText(decision)}</span>`,
      Groups: groupsText(identity, deps.oidc),
    },
    body: html`<pre class="break">${JSON.stringify(identity.claims, null, 2)}</pre>`,
  };
}

function decisionText(decision: SignInDecision): HtmlValue {
  switch (decision.type) {
    case "sign-in":
      return html`${badge("good", "Signs in")} as person ${decision.personId}`;
    case "link":
      return html`${badge("good", "Linked")} to person ${decision.personId}, as both sides have proven the address`;
    case "register":
      return html`${badge("good", "Registered")} as somebody new, ${decision.address ?? "without an address"}`;
    case "refuse":
      return html`${badge("bad", "Refused")} ${decision.why}`;
  }
}

function groupsText({ groups }: Pick<ProviderIdentity, "groups">, { groups: grants }: Oidc): HtmlValue {
  if ("unknown" in groups)
    return html`${badge("warn", "Not known")} ${groups.unknown}: memberships stay as they are`;
  const { roles, isOperator } = givenTo(groups, grants);
  const granted = [...roles].map(([accountId, role]) => `${role} of ${accountId}`);
  if (isOperator) granted.push("operator");
  return `${groups.known.join(", ") || "none"}; they give ${granted.join(", ") || "nothing"}`;
}
