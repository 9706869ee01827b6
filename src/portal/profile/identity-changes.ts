// The forms of sign-ins at the provider on /portal/profile: one is linked by who is signed in, and comes back from there
// (auth/oidc-pages.ts), or unlinked.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { identitiesOf } from "../../commands/people/identities.ts";
import { withoutWay } from "../../commands/people/sign-in-ways.ts";
import { Refused } from "../../commands/refusals.ts";
import { unlinkIdentity } from "../../sign-in/oidc/sign-in-at-provider.ts";
import { beginOidc, sendWayOut } from "../auth/oidc-pages.ts";
import { PasswordTyped, reauthenticate } from "../auth/reauthenticate.ts";
import type { SignInDeps } from "../auth/start-session.ts";
import { formRoute, type ShowAgain } from "../shell/form-route.ts";
import { sendProfilePage } from "./profile-page.ts";

const IdentityParams = z.object({ identityId: z.uuid() });

export function identityChanges(app: Api, { oidc, ...others }: SignInDeps): void {
  if (!oidc) return;
  const deps = { ...others, oidc };
  const again: ShowAgain = (reply, refused) => sendProfilePage(deps, reply, refused);
  formRoute(app, deps, "/profile/identities", {
    again,
    schema: { body: PasswordTyped },
    run: async ({ reply, person, body: { password } }) => {
      const { personId, sessionId } = person;
      await reauthenticate(deps, person, password);
      const url = await beginOidc(deps, reply, { purpose: "link", personId, sessionId });
      return { to: () => sendWayOut(reply, "Link a sign-in", url, `Go on at ${oidc.name}`) };
    },
  });

  formRoute(app, deps, "/profile/identities/:identityId/unlink", {
    again,
    schema: { params: IdentityParams, body: PasswordTyped },
    run: async ({ context, person, params: { identityId }, body }) => {
      const { personId } = person;
      await reauthenticate(deps, person, body.password);
      const identity = (await identitiesOf(deps, personId)).find((own) => own.identityId === identityId);
      if (!identity) throw new Refused("not_found", "There is no such sign-in");
      await withoutWay(deps, personId, identityId, () => unlinkIdentity(deps, context, personId, identity));
      const { issuer, subject } = identity;
      const all = { issuer, subject, sid: undefined, issuedAt: Number.POSITIVE_INFINITY };
      await deps.sessions.endAtProvider(all, personId);
      return { notice: "It is no longer linked: nobody signs in by it as you." };
    },
  });
}
