// Passkeys on the profile page: which somebody has, and the forms that add, rename and remove them.
import { type Passkey, passkeysOf, userHandle } from "../../commands/people/passkeys.ts";
import { passkeyForm, takesPasskeys } from "../auth/passkey-sign-in.ts";
import {
  type Reauthentication,
  reauthenticatedPost,
  reauthenticationFields,
} from "../auth/reauthenticate.ts";
import type { SignInDeps } from "../auth/start-session.ts";
import { type Fields, form, inputs } from "../shell/controls.ts";
import { html } from "../shell/html.ts";
import { badge, type Cards, type Columns, confirmed, tableCard, time } from "../shell/layout.ts";
import type { SignedInPerson } from "../shell/sessions.ts";

const PATH = "/portal/profile/passkeys";
export const PASSKEY_FIELDS = {
  name: {
    id: "passkey-name",
    label: "Name",
    maxlength: 100,
    placeholder: "Such as “Phone”; by default this browser",
  },
} satisfies Fields;

export async function passkeyCards(
  deps: SignInDeps,
  { personId, email }: SignedInPerson,
  proof: Reauthentication,
): Promise<Cards> {
  const passkeys = await passkeysOf(deps, personId);
  const isOn = takesPasskeys(deps);
  if (!isOn && passkeys.length === 0) return [];
  const signalled = {
    rpId: deps.baseHost,
    userId: await userHandle(deps, personId),
    name: email,
    credentialIds: passkeys.map(({ credentialId }) => credentialId),
  };
  return [
    html`<div data-passkeys="${JSON.stringify(signalled)}" hidden></div>`,
    tableCard("Your passkeys", columnsOf(deps, proof), passkeys),
    isOn &&
      proof.asks !== "sign-in" && {
        title: "Add a passkey",
        lead: "A finger, a face or a PIN instead of a password: no address is typed, and nothing can be given away to another site.",
        body: passkeyForm({
          action: PATH,
          fields: inputs({ ...PASSKEY_FIELDS, ...reauthenticationFields(proof, PATH) }),
          button: "Add a passkey",
        }),
      },
  ];
}

function columnsOf({ baseHost }: Pick<SignInDeps, "baseHost">, proof: Reauthentication): Columns<Passkey> {
  return {
    Name: ({ name, rpId, copySeenAt }) =>
      html`<strong>${name}</strong>${rpId !== baseHost && html`<br>${badge("bad", `Works at ${rpId} only`)}`}${copySeenAt && html`<br>${badge("bad", html`A copy of it was used ${time(copySeenAt)}: remove it`)}`}`,
    Added: "createdAt",
    "Last used": "usedAt",
    Actions: {
      isHidden: true,
      end: true,
      cell: ({ passkeyId, name }) => {
        const action = `${PATH}/${passkeyId}`;
        const rename = form({
          action: `${action}/rename`,
          fields: { name: { ...PASSKEY_FIELDS.name, id: `name-${passkeyId}` } },
          values: { name },
          button: "Rename",
          buttonKind: "primary",
        });
        const removal = reauthenticatedPost(proof, {
          button: "Remove",
          question: `Nobody signs in with “${name}” any more. Where passkeys are kept, such as in a password manager, it may have to be deleted as well.`,
          action: `${action}/remove`,
          words: "Remove the passkey",
        });
        return html`<div class="actions">${confirmed("Rename", html`<p>What is it called?</p>`, rename, "button-small")}${removal}</div>`;
      },
    },
  };
}
