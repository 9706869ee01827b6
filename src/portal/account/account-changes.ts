// The forms of /portal/account (address, password, sessions, closing), and its export as JSON Lines.
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { FORM_FRAME_BYTES, takeUploads } from "../../api/uploads.ts";
import { changeBrand, changeLogo } from "../../commands/account/change-brand.ts";
import { closeAccount } from "../../commands/account/close-account.ts";
import { changeTimeZone } from "../../commands/account/time-zone.ts";
import type { Mailer } from "../../commands/mail/mailer.ts";
import { tellPerson } from "../../commands/mail/people-mails.ts";
import { acceptEmail, type ChangedEmail, changeEmail } from "../../commands/people/email.ts";
import { changeName } from "../../commands/people/name.ts";
import {
  confirmEmailChange,
  issueEmailChange,
  lookAtEmailChange,
} from "../../commands/people/one-time-tokens.ts";
import { changePassword, provePassword } from "../../commands/people/password.ts";
import { endSessions, recordAct } from "../../commands/people/persons.ts";
import { Refused } from "../../commands/refusals.ts";
import { countMail } from "../../limits/count-mail.ts";
import { sendExport } from "../../limits/exports.ts";
import type { OpenStreams } from "../../limits/open-streams.ts";
import { countTry } from "../../limits/rate-limit.ts";
import { LOGO_MAX_BYTES } from "../../qr/logo.ts";
import { sendFormPage } from "../auth/form-page.ts";
import { EMAIL_LINK_HOURS, mail, sendMail } from "../auth/mails.ts";
import { endSession, type SignInDeps, startSession } from "../auth/start-session.ts";
import { countReauthentication } from "../auth/throttle.ts";
import { typedUrl } from "../links/urls.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { hiddenFields, schemaOf } from "../shell/form.ts";
import { formRoute, type ShowAgain } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { redirectTo } from "../shell/visit.ts";
import {
  type AccountForm,
  BRAND_FIELDS,
  CLOSE_FIELDS,
  EMAIL_FIELDS,
  NAME_FIELDS,
  PASSWORD_FIELDS,
  sendAccountPage,
} from "./account-page.ts";

const PATH = "/portal/account";
/** Limited, because each export reads the whole log since the account was opened. */
const EXPORTS_AN_HOUR = 5;

const ZoneForm = z.object({ timezone: z.string().default("") });
const LogoForm = z.object({ logo: z.instanceof(Uint8Array).optional().catch(undefined) });
const Token = z.object({ token: z.string().default("") });
const SessionParams = z.object({ sessionId: z.string().regex(/^[0-9a-f]{64}$/) });

export function accountChanges(app: Api, deps: SignInDeps): void {
  const shown = (form: AccountForm): { path: string; again: ShowAgain } => ({
    path: PATH,
    again: (refused, request, reply) => sendAccountPage(deps, request, reply, form, refused),
  });

  formRoute(app, deps, "/account/brand", {
    ...shown("brand"),
    schema: { body: schemaOf(BRAND_FIELDS) },
    run: async ({ session: { accountId }, context, body }) => {
      const { position } = await changeBrand(deps.links, context, accountId, {
        name: body.name,
        colour: body.no_colour ? "" : body.colour,
        url: body.url.trim() === "" ? "" : typedUrl(body.url),
      });
      return { position, to: PATH, notice: "Saved. Visitors see it within seconds." };
    },
  });

  app.register(async (scope: Api) => {
    takeUploads(scope);
    formRoute(scope, deps, "/account/logo", {
      ...shown("logo"),
      bodyLimit: LOGO_MAX_BYTES + FORM_FRAME_BYTES,
      schema: { body: LogoForm },
      run: async ({ session: { accountId }, context, body: { logo } }) => {
        if (logo === undefined || logo.length === 0)
          throw new Refused("invalid_logo", "Choose a PNG image first");
        const made = await deps.makeLogo(logo);
        if ("problem" in made) throw new Refused("invalid_logo", made.problem);
        const { position } = await changeLogo(deps, context, accountId, made.image);
        return { position, to: PATH, notice: "Your logo is set: it is in the middle of your QR codes." };
      },
    });
  });

  formRoute(app, deps, "/account/logo/remove", {
    path: PATH,
    run: async ({ session: { accountId }, context }) => {
      const { position } = await changeLogo(deps, context, accountId, null);
      return { position, to: PATH, notice: "Your logo is removed." };
    },
  });

  formRoute(app, deps, "/account/time-zone", {
    ...shown("time-zone"),
    schema: { body: ZoneForm },
    run: async ({ session: { accountId }, context, body: { timezone } }) => {
      const { position } = await changeTimeZone(deps, context, accountId, timezone);
      return { position, to: PATH, notice: "Saved. Your numbers have their days there now." };
    },
  });

  formRoute(app, deps, "/account/name", {
    ...shown("name"),
    schema: { body: schemaOf(NAME_FIELDS) },
    run: async ({ session: { personId }, body: { name } }) => {
      await changeName(deps, personId, name);
      return { to: PATH, notice: "Saved." };
    },
  });

  formRoute(app, deps, "/account/email", {
    ...shown("email"),
    schema: { body: schemaOf(EMAIL_FIELDS) },
    run: async ({ request, session: { personId }, body: { email, password } }) => {
      await reauthenticate(deps, request, password);
      const notice = deps.mailer
        ? await mailConfirmation({ ...deps, mailer: deps.mailer }, personId, email)
        : addressChanged(deps, await changeEmail(deps, personId, email));
      return { to: PATH, notice };
    },
  });

  formRoute(app, deps, "/account/password", {
    ...shown("password"),
    count: "uncounted",
    schema: { body: schemaOf(PASSWORD_FIELDS) },
    run: async ({ request, reply, context, session, body: { password, wanted } }) => {
      const { personId, accountId, sessionId } = session;
      await countReauthentication(deps, sessionId);
      const change = () => changePassword(deps, context, personId, { current: password, wanted });
      const { epoch } = await deps.passwordWork.known(change);
      await deps.sessions.endAll(personId);
      await startSession(deps, request, reply, { personId, accountId, epoch });
      void tellPerson(deps, personId, { what: "password" });
      return { to: PATH, notice: "Your new password is set." };
    },
  });

  formRoute(app, deps, "/account/close", {
    ...shown("close"),
    count: "uncounted",
    schema: { body: schemaOf(CLOSE_FIELDS) },
    run: async ({ request, reply, context, session: { accountId }, body: { password } }) => {
      await reauthenticate(deps, request, password);
      const { position } = await closeAccount(deps, context, accountId);
      await deps.whenReadable(position);
      await endSession(deps, request, reply);
      const bye = "Your account is closed. Thank you for having been here.";
      return { to: "/portal/sign-in", notice: { kind: "info", text: bye } };
    },
  });

  formRoute(app, deps, "/account/sessions/:sessionId/end", {
    path: PATH,
    count: "uncounted",
    schema: { params: SessionParams },
    run: async ({ context, session: { personId }, params: { sessionId } }) => {
      const own = await deps.sessions.list(personId);
      if (!own.some((session) => session.sessionId === sessionId))
        throw new Refused("not_found", "There is no such session");
      await deps.sessions.end(personId, sessionId);
      const ended = (by: { personId: string; at: string }) =>
        ({ type: "SessionsEnded", data: { ...by, sessions: "one" } }) as const;
      await recordAct(deps, context, ended, personId);
      return { to: PATH, notice: "That browser is signed out." };
    },
  });

  formRoute(app, deps, "/account/sessions/end-all", {
    path: PATH,
    count: "uncounted",
    run: async ({ request, reply, context, session: { personId } }) => {
      await endSessions(deps, context, personId);
      await endSession(deps, request, reply);
      return { to: "/portal/sign-in", notice: { kind: "info", text: "You are signed out everywhere." } };
    },
  });
}

/** The page behind the link that is mailed to a new address: for whoever has the link, signed in or not. */
export function emailConfirmation(app: Api, deps: PortalDeps): void {
  app.get("/account/email/confirm", { schema: { querystring: Token } }, async (request, reply) => {
    const { token } = request.query;
    const { email } = await lookAtEmailChange(deps, token);
    return sendFormPage(reply, {
      title: "Confirm your new address",
      button: "Use this address",
      fields: hiddenFields({ token }),
      lead: html`From now on you sign in with <strong>${email}</strong>.`,
    });
  });

  app.post("/account/email/confirm", { schema: { body: Token } }, async (request, reply) => {
    const changed = await confirmEmailChange(deps, request.body.token);
    return redirectTo(reply, PATH, { kind: "done", text: addressChanged(deps, changed) });
  });
}

export function exportRoute(app: Api, deps: PortalDeps & { exports: OpenStreams }): void {
  // A HEAD would read the whole export for nobody.
  const options = { preHandler: requireSession, exposeHeadRoute: false };
  app.get("/account/export", options, async (request, reply) => {
    const { accountId, email, tier } = signedIn(request);
    await countTry(deps, `export ${accountId}`, EXPORTS_AN_HOUR);
    const at = deps.clock().toISOString();
    const head = { account_id: accountId, email, tier, exported_at: at };
    const file = { type: "application/x-ndjson", name: `linkledger-${at.slice(0, 10)}.ndjson` };
    return sendExport(reply, deps.exports, accountId, file, async function* (signal) {
      yield `${JSON.stringify(head)}\n`;
      yield* deps.logReader.exportAccount(accountId, signal);
    });
  });
}

/** A session alone is not enough for this change. @throws rate_limit_exceeded, wrong_current_password */
async function reauthenticate(deps: SignInDeps, request: FastifyRequest, password: string): Promise<void> {
  const { personId, sessionId } = signedIn(request);
  await countReauthentication(deps, sessionId);
  await deps.passwordWork.known(() => provePassword(deps, personId, password));
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
