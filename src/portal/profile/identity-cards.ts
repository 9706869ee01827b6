// Sign-ins at the provider on the profile page.
import { type Identity, identitiesOf } from "../../commands/people/identities.ts";
import { type Reauthentication, reauthenticatedPost } from "../auth/reauthenticate.ts";
import type { SignInDeps } from "../auth/start-session.ts";
import { html } from "../shell/html.ts";
import { badge, type Cards, type Columns, tableCard } from "../shell/layout.ts";
import type { SignedInPerson } from "../shell/sessions.ts";

/** By which sign-ins somebody comes from there, and the button that links one. */
export async function identityCards(
  deps: SignInDeps,
  { personId }: SignedInPerson,
  proof: Reauthentication,
): Promise<Cards> {
  const identities = await identitiesOf(deps, personId);
  const { oidc } = deps;
  if (!oidc && identities.length === 0) return [];
  const path = `${proof.page}/identities`;
  const columns: Columns<Identity> = {
    Provider: ({ issuer }) =>
      html`<strong>${issuer === oidc?.client.issuer ? oidc.name : issuer}</strong>${issuer !== oidc?.client.issuer && html`<br>${badge("bad", "Off here")}`}`,
    Address: "email",
    Linked: "linkedAt",
    "Last used": "usedAt",
    Actions: {
      isHidden: true,
      end: true,
      cell: ({ identityId }) =>
        reauthenticatedPost(proof, {
          button: "Unlink",
          question: "Nobody signs in by it as you any more, and sessions that began by it end.",
          action: `${path}/${identityId}/unlink`,
          words: "Unlink",
        }),
    },
  };
  const link =
    oidc &&
    reauthenticatedPost(proof, {
      button: `Link ${oidc.name}`,
      question: `You are led to ${oidc.name}. Whoever you sign in as there signs in as you here from then on.`,
      action: path,
      words: "Link it",
    });
  const none = oidc && `You have not signed in with ${oidc.name} yet.`;
  return [tableCard("Sign-ins elsewhere", columns, identities, { actions: link, ...(none && { none }) })];
}
