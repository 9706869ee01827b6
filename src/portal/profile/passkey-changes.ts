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
import { formRoute, type ShowAgain } from "../shell/form-route.ts";
import { signInPlace } from "../shell/sessions.ts";
import { PASSKEY_FIELDS } from "./passkey-cards.ts";
import { sendProfilePage } from "./profile-page.ts";

const NameForm = schemaOf(PASSKEY_FIELDS);
const PasskeyParams = z.object({ passkeyId: z.uuid() });

export function passkeyChanges(app: Api, deps: SignInDeps): void {
  if (!takesPasskeys(deps)) return;
  const again: ShowAgain = (reply, refused) => sendProfilePage(deps, reply, refused);

  formRoute(app, deps, "/profile/passkeys/begin", {
    again,
    schema: { body: PasswordTyped },
    run: async ({ reply, person, body: { password } }) => {
      const { personId, email } = person;
      await reauthenticate(deps, person, password);
      const begun = await beginAdding(deps, { personId, label: email || "Linkledger" });
      return { to: () => sendCeremony(reply, begun) };
    },
  });

  formRoute(app, deps, "/profile/passkeys", {
    again,
    schema: { body: AnswerForm.extend(NameForm.shape) },
    run: async ({ request, reply, context, person: { personId }, body }) => {
      const name = acceptLabel(body.name) || signInPlace(request).browser;
      const answer = takeAnswer(reply, body);
      await finishAdding(deps, context, { personId, name }, answer);
      void tellPerson(deps, personId, { what: "new way to sign in" });
      return { notice: `The passkey “${name}” is added: sign in with it from now on.` };
    },
  });

  formRoute(app, deps, "/profile/passkeys/:passkeyId/rename", {
    again,
    schema: { params: PasskeyParams, body: NameForm },
    run: async ({ person: { personId }, params: { passkeyId }, body: { name } }) => {
      await renamePasskey(deps, personId, passkeyId, name);
      return { notice: "Saved." };
    },
  });

  formRoute(app, deps, "/profile/passkeys/:passkeyId/remove", {
    again,
    schema: { params: PasskeyParams, body: PasswordTyped },
    run: async ({ context, person, params: { passkeyId }, body: { password } }) => {
      await reauthenticate(deps, person, password);
      await removePasskey(deps, context, person.personId, passkeyId);
      return { notice: "The passkey is removed: nobody signs in with it any more." };
    },
  });
}
