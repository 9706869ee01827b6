// The forms of /portal/profile: name, address, password and sessions. What anybody signed in has, whatever accounts they are in.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import type { Mailer } from "../../commands/mail/mailer.ts";
import { tellPerson } from "../../commands/mail/people-mails.ts";
import { changeName, endSessions } from "../../commands/people/change-person.ts";
import { acceptEmail, type ChangedEmail, changeEmail } from "../../commands/people/email.ts";
import {
  confirmEmailChange,
  issueEmailChange,
  lookAtEmailChange,
} from "../../commands/people/one-time-tokens.ts";
import { changePassword } from "../../commands/people/password.ts";
import { recordAct } from "../../commands/people/person-stream.ts";
import { removePassword } from "../../commands/people/sign-in-ways.ts";
import { Refused } from "../../commands/refusals.ts";
import { countMail } from "../../limits/rate-limit.ts";
import { tokenPage } from "../auth/form-page.ts";
import { EMAIL_LINK_HOURS, mail, sendMail } from "../auth/mails.ts";
import { PasswordTyped, reauthenticate } from "../auth/reauthenticate.ts";
import { endSession, type SignInDeps, startSession } from "../auth/start-session.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { schemaOf } from "../shell/controls.ts";
import { formRoute, type ShowAgain } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { redirectTo } from "../shell/request-visit.ts";
import type { SignedInPerson } from "../shell/sessions.ts";
import { EMAIL_FIELDS, NAME_FIELDS, PASSWORD_FIELDS, PROFILE_PATH, sendProfilePage } from "./profile-page.ts";

const SessionParams = z.object({ sessionId: z.string().regex(/^[0-9a-f]{64}$/) });

export function profileChanges(app: Api, deps: SignInDeps): void {
  const { mailer } = deps;
  const again: ShowAgain = (reply, refused) => sendProfilePage(deps, reply, refused);

  formRoute(app, deps, "/profile/name", {
    again,
    schema: { body: schemaOf(NAME_FIELDS) },
    run: async ({ person: { personId }, body: { name } }) => {
      await changeName(deps, personId, name);
      return { notice: "Saved." };
    },
  });

  formRoute(app, deps, "/profile/email", {
    again,
    schema: { body: schemaOf(EMAIL_FIELDS).extend(PasswordTyped.shape) },
    run: async ({ person, body: { email, password } }) => {
      const { personId } = person;
      await reauthenticate(deps, person, password);
      const notice = mailer
        ? await mailConfirmation({ ...deps, mailer }, personId, email)
        : addressChanged(deps, await changeEmail(deps, personId, email));
      return { notice };
    },
  });

  formRoute(app, deps, "/profile/password", {
    again,
    count: "uncounted",
    schema: { body: schemaOf(PASSWORD_FIELDS).extend(PasswordTyped.shape) },
    run: async ({ reply, context, person, body: { password, wanted } }) => {
      const { personId } = person;
      if (!deps.signIn.includes("password")) throw new Refused("sign_in_off");
      const how = await reauthenticate(deps, person, password);
      const change = () => changePassword(deps, context, personId, { how, wanted });
      const { epoch } = await deps.passwordWork.known(change);
      await deps.sessions.endAll(personId);
      await startSession(deps, reply, { ...proofOf(person), epoch });
      void tellPerson(deps, personId, { what: "password" });
      return { notice: "Your new password is set." };
    },
  });

  formRoute(app, deps, "/profile/password/remove", {
    again,
    count: "uncounted",
    schema: { body: PasswordTyped },
    run: async ({ reply, context, person, body: { password } }) => {
      const { personId } = person;
      await reauthenticate(deps, person, password);
      await removePassword(deps, context, personId);
      await deps.sessions.endAll(personId);
      const notice = { kind: "done", text: "Your password is removed." } as const;
      if (person.way === "password") return { to: "/portal/sign-in", notice };
      await startSession(deps, reply, proofOf(person));
      return { notice };
    },
  });

  formRoute(app, deps, "/profile/sessions/:sessionId/end", {
    again,
    count: "uncounted",
    schema: { params: SessionParams },
    run: async ({ context, person: { personId }, params: { sessionId } }) => {
      const own = await deps.sessions.list(personId);
      if (!own.some((session) => session.sessionId === sessionId))
        throw new Refused("not_found", "There is no such session");
      await deps.sessions.end(personId, sessionId);
      await recordAct(deps, context, personId, "SessionsEnded", { sessions: "one" });
      return { notice: "That browser is signed out." };
    },
  });

  formRoute(app, deps, "/profile/sessions/end-all", {
    again,
    count: "uncounted",
    run: async ({ reply, context, person: { personId } }) => {
      await endSessions(deps, context, personId);
      await endSession(deps, reply);
      return { to: "/portal/sign-in", notice: { kind: "info", text: "You are signed out everywhere." } };
    },
  });
}

/** The page behind the link that is mailed to a new address: for whoever has the link, signed in or not. */
export function emailConfirmation(app: Api, deps: PortalDeps): void {
  tokenPage(app, {
    path: "/profile/email/confirm",
    title: "Confirm your new address",
    lead: (email) => html`From now on you sign in with <strong>${email}</strong>.`,
    button: "Use this address",
    asksPassword: false,
    lookAt: (token) => lookAtEmailChange(deps, token),
    use: async ({ token }, reply) => {
      const changed = await confirmEmailChange(deps, token);
      return redirectTo(reply, PROFILE_PATH, { kind: "done", text: addressChanged(deps, changed) });
    },
  });
}

/** For the session that goes on where all others end: no longer, and no fresher than it was. */
function proofOf({ personId, way, since, provider }: SignedInPerson) {
  return { personId, way, since, ...(provider && { provider }) };
}

/**
 * Mails a confirmation link to the new address and returns the text to show. The text is the same when the address
 * belongs to somebody else; confirmEmailChange checks that again.
 */
async function mailConfirmation(
  deps: SignInDeps & { mailer: Mailer },
  personId: string,
  typed: string,
): Promise<string> {
  const email = acceptEmail(typed);
  await countMail(deps, email);
  sendMail(deps, async () => {
    const link = await issueEmailChange(deps, personId, email, EMAIL_LINK_HOURS * 3_600_000);
    return link && mail("newAddress", email, `${deps.baseUrl}${link.path}`);
  });
  return `A mail to ${email} is on its way: follow its link, and the address is yours to sign in with.`;
}

/** Notifies the previous address; returns the text to show. */
function addressChanged({ mailer, log, baseUrl }: PortalDeps, { previous, email }: ChangedEmail): string {
  if (mailer && previous) sendMail({ mailer, log }, async () => mail("addressChanged", previous, baseUrl));
  return `You sign in with ${email} from now on.`;
}
