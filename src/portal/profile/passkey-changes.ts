// The forms of passkeys on the profile page: they add, rename and remove them.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { acceptLabel } from "../../commands/accept-text.ts";
import { tellPerson } from "../../commands/mail/people-mails.ts";
import { removePasskey, renamePasskey } from "../../commands/people/sign-in-ways.ts";
import { beginAdding, finishAdding } from "../../sign-in/passkey-ceremonies.ts";
import { AnswerForm, sendCeremony, takeAnswer, takesPasskeys } from "../auth/passkey-sign-in.ts";
import { PasswordTyped, reauthenticate } from "../auth/reauthenticate.ts";
import type { SignInDeps } from "../auth/start-session.ts";
import { schemaOf } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { signInPlace } from "../shell/sessions.ts";
import { PASSKEY_FIELDS } from "./passkey-cards.ts";
import { ofProfile, PROFILE_PATH } from "./profile-page.ts";

const NameForm = schemaOf(PASSKEY_FIELDS);
const PasskeyParams = z.object({ passkeyId: z.uuid() });

export function passkeyChanges(app: Api, deps: SignInDeps): void {
  if (!takesPasskeys(deps)) return;
  const ofPerson = ofProfile(deps);

  formRoute(app, deps, "/profile/passkeys/begin", {
    ...ofPerson,
    schema: { body: PasswordTyped },
    run: async ({ request, reply, person: { personId, email }, body: { password } }) => {
      await reauthenticate(deps, request, password);
      const begun = await beginAdding(deps, { personId, label: email || "Linkledger" });
      return { to: () => sendCeremony(reply, begun) };
    },
  });

  formRoute(app, deps, "/profile/passkeys", {
    ...ofPerson,
    schema: { body: AnswerForm.extend(NameForm.shape) },
    run: async ({ request, reply, context, person: { personId }, body }) => {
      const name = acceptLabel(body.name) || signInPlace(request).browser;
      const answer = takeAnswer(request, reply, body);
      await finishAdding(deps, context, { personId, name }, answer);
      void tellPerson(deps, personId, { what: "new way to sign in" });
      return { to: PROFILE_PATH, notice: `The passkey “${name}” is added: sign in with it from now on.` };
    },
  });

  formRoute(app, deps, "/profile/passkeys/:passkeyId/rename", {
    ...ofPerson,
    schema: { params: PasskeyParams, body: NameForm },
    run: async ({ person: { personId }, params: { passkeyId }, body: { name } }) => {
      await renamePasskey(deps, personId, passkeyId, name);
      return { to: PROFILE_PATH, notice: "Saved." };
    },
  });

  formRoute(app, deps, "/profile/passkeys/:passkeyId/remove", {
    ...ofPerson,
    schema: { params: PasskeyParams, body: PasswordTyped },
    run: async ({ request, context, person: { personId }, params: { passkeyId }, body: { password } }) => {
      await reauthenticate(deps, request, password);
      await removePasskey(deps, context, personId, passkeyId);
      return { to: PROFILE_PATH, notice: "The passkey is removed: nobody signs in with it any more." };
    },
  });
}
