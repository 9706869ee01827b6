// GET /portal/profile: somebody's name and address, how they sign in, and where they are signed in.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { PASSWORD_MIN } from "../../commands/people/password.ts";
import { nameOf } from "../../queries/people.ts";
import { PASSKEY_SCRIPTS } from "../auth/passkey-sign-in.ts";
import {
  type Reauthentication,
  reauthenticated,
  reauthenticatedPost,
  reauthenticationOf,
  signInAgain,
} from "../auth/reauthenticate.ts";
import type { SignInDeps } from "../auth/start-session.ts";
import type { Fields } from "../shell/controls.ts";
import { type Html, html } from "../shell/html.ts";
import { badge, type Card, type Columns, confirmedPost, postButton, tableCard } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import type { RefusedForm } from "../shell/refused-form.ts";
import { type SessionOfPerson, signedInPerson } from "../shell/sessions.ts";
import { identityCards } from "./identity-cards.ts";
import { passkeyCards } from "./passkey-cards.ts";

export const PROFILE_PATH = "/portal/profile";

/** As colleagues read it in lists and histories. */
export const NAME_FIELDS = {
  name: { id: "person-name", label: "Name", maxlength: 100, autocomplete: "name" },
} satisfies Fields;

export const EMAIL_FIELDS = {
  email: {
    id: "new-email",
    label: "New address",
    type: "email",
    autocomplete: "email",
    required: true,
    maxlength: 254,
    // Its length is the command's to refuse, in its own words.
    schema: z.string().default(""),
  },
} satisfies Fields;

export const PASSWORD_FIELDS = {
  wanted: {
    id: "new-password",
    label: "New password",
    type: "password",
    autocomplete: "new-password",
    required: true,
    minlength: PASSWORD_MIN,
    hint: `At least ${PASSWORD_MIN} characters. You are signed out everywhere else.`,
    refusedAs: "password",
  },
} satisfies Fields;

export function profilePage(app: Api, deps: SignInDeps): void {
  app.get("/profile", (_, reply) => sendProfilePage(deps, reply));
}

export async function sendProfilePage(
  deps: SignInDeps,
  reply: FastifyReply,
  refused?: RefusedForm,
): Promise<FastifyReply> {
  const person = signedInPerson(reply.request);
  const { personId, email, sessionId } = person;
  const [sessions, { name }, proof] = await Promise.all([
    deps.sessions.list(personId),
    nameOf(deps, personId),
    reauthenticationOf(deps, person, PROFILE_PATH),
  ]);
  const emailHint = deps.mailer && "It counts once you have followed the link we send there.";
  return sendPage(reply, {
    title: "Profile",
    nav: "Profile",
    lead: email,
    refused,
    scripts: PASSKEY_SCRIPTS,
    cards: [
      {
        title: "Your name",
        lead: "As your colleagues read it in lists and histories; empty for your address.",
        form: {
          action: `${PROFILE_PATH}/name`,
          fields: NAME_FIELDS,
          values: { name: name === email ? "" : name },
          isRow: true,
          button: "Save",
        },
      },
      proof.asks === "sign-in" && {
        title: "Is it you?",
        lead: "Your address, and how you sign in, can be changed within ten minutes of signing in.",
        body: signInAgain(proof),
      },
      [
        proof.asks !== "sign-in" && {
          title: "E-mail address",
          form: reauthenticated(proof, {
            action: `${PROFILE_PATH}/email`,
            fields: { email: { ...EMAIL_FIELDS.email, hint: emailHint } },
            button: "Change address",
          }),
        },
        passwordCard(deps, proof),
      ],
      ...(await passkeyCards(deps, person, proof)),
      ...(await identityCards(deps, person, proof)),
      sessionsCard(sessions, sessionId),
    ],
  });
}

function passwordCard({ signIn }: Pick<SignInDeps, "signIn">, proof: Reauthentication): Card | undefined {
  if (!signIn.includes("password") || proof.asks === "sign-in") return undefined;
  const has = proof.ways.includes("password");
  return {
    title: "Password",
    lead: !has && "You sign in without one.",
    form: reauthenticated(proof, {
      action: `${PROFILE_PATH}/password`,
      fields: PASSWORD_FIELDS,
      button: "Set password",
    }),
    actions:
      has &&
      proof.ways.length > 1 &&
      reauthenticatedPost(proof, {
        button: "Remove",
        question: "From then on you sign in by your other ways alone, and are signed out everywhere else.",
        action: `${PROFILE_PATH}/password/remove`,
        words: "Remove the password",
      }),
  };
}

const WAYS = { password: "Password", passkey: "Passkey", oidc: "Provider", link: "Link of the operator" };

function sessionsCard(sessions: readonly SessionOfPerson[], current: string): Card | Html | undefined {
  const end = ({ sessionId, browser }: SessionOfPerson) =>
    sessionId === current
      ? badge("good", "This browser")
      : postButton(`${PROFILE_PATH}/sessions/${sessionId}/end`, "Sign out", {
          kind: "small",
          label: `Sign out ${browser}`,
        });
  const columns: Columns<SessionOfPerson> = {
    Browser: ({ browser }) => html`<strong>${browser}</strong>`,
    Network: ({ address }) => address || "unknown",
    By: ({ way }) => WAYS[way],
    "Signed in": "createdAt",
    "Last seen": "seenAt",
    Actions: { cell: end, isHidden: true, end: true },
  };
  const everywhere = "Sign out everywhere";
  const question = "Ends every session, this one too. API keys go on working.";
  const actions = confirmedPost(everywhere, question, `${PROFILE_PATH}/sessions/end-all`, everywhere);
  return tableCard("Where you are signed in", columns, sessions, { actions });
}
