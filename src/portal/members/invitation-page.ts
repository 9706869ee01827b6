// What an invitation's link opens: looking at it spends nothing; who has its address accepts it, with an account elsewhere or as
// a newcomer.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import {
  acceptInvitation,
  type InvitationLink,
  lookAtInvitationLink,
  registerByInvitation,
} from "../../commands/account/invitations.ts";
import { personWithEmail } from "../../commands/people/email.ts";
import { acceptPassword, hashPassword } from "../../commands/people/password.ts";
import { normalEmail } from "../../commands/people/secrets.ts";
import { Refused } from "../../commands/refusals.ts";
import { accountName } from "../../queries/people.ts";
import { addressIn } from "../account-address.ts";
import { countForm, NEW_PASSWORD_FIELD } from "../auth/form-page.ts";
import { oidcButton } from "../auth/oidc-pages.ts";
import { type SignInDeps, startSession } from "../auth/start-session.ts";
import { usernameField } from "../shell/controls.ts";
import { shownAgain } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { postButton } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { redirectTo } from "../shell/request-visit.ts";
import { leadToSignIn, signInPath } from "../shell/sessions.ts";

const PATH = "/portal/invitation";
const Link = z.object({ id: z.string().default(""), token: z.string().default("") });
const PasswordForm = Link.extend({ password: z.string().default("") });

export function invitationPages(app: Api, deps: SignInDeps): void {
  app.get("/invitation", { schema: { querystring: Link } }, (request, reply) =>
    sendInvitation(deps, reply, request.query),
  );

  const again = shownAgain((reply, refused) => {
    const { typed } = refused;
    const link = { id: typedText(typed, "id"), token: typedText(typed, "token") };
    return sendInvitation(deps, reply, link, refused);
  });
  app.post("/invitation", { schema: { body: PasswordForm }, errorHandler: again }, async (request, reply) => {
    await countForm(deps, "/sign-up", request);
    if (!deps.signIn.includes("password")) throw new Refused("sign_in_off");
    const { password, ...link } = request.body;
    const { email } = await lookAtInvitationLink(deps, link);
    const accepted = acceptPassword(password, { email });
    const passwordHash = await deps.passwordWork.known(() => hashPassword(accepted));
    const { position, ...joined } = await registerByInvitation(deps, contextOf(request), link, passwordHash);
    await deps.whenReadable(position);
    await startSession(deps, reply, { ...joined, way: "password" });
    return redirectTo(reply, "/portal", { kind: "done", text: "Welcome: you are a member now." });
  });

  app.post("/invitation/accept", { schema: { body: Link } }, async (request, reply) => {
    const { person } = request.visit;
    if (!person) return leadToSignIn(request, reply, pathOf(request.body));
    const { accountId, position } = await acceptInvitation(
      deps,
      contextOf(request),
      request.body,
      person.personId,
    );
    await deps.whenReadable(position);
    return redirectTo(reply, addressIn(accountId, "/portal"), {
      kind: "done",
      text: "You are a member of this account now.",
    });
  });
}

const contextOf = ({ id }: FastifyRequest) => ({ requestId: id });

async function sendInvitation(
  deps: SignInDeps,
  reply: FastifyReply,
  link: InvitationLink,
  refused?: RefusedForm,
): Promise<FastifyReply> {
  const { accountId, email, role } = await lookAtInvitationLink(deps, link);
  const title = "Invitation";
  const lead = html`To <strong>${await accountName(deps, accountId)}</strong>, as ${role}, for <strong>${email}</strong>.`;
  const { person } = reply.request.visit;
  const button = "Accept the invitation";
  if (!person && deps.signIn.includes("password") && !(await personWithEmail(deps, email)))
    return sendPage(reply, {
      title,
      shape: "narrow",
      refused,
      cards: [
        {
          title,
          lead: html`${lead} Choose a password, with which you sign in from now on.`,
          form: {
            action: PATH,
            hidden: link,
            fields: NEW_PASSWORD_FIELD,
            more: usernameField(email),
            button,
            buttonKind: "primary",
          },
          below: oidcButton(deps, pathOf(link)),
        },
      ],
    });
  const isTheirs = person && normalEmail(person.email) === normalEmail(email);
  return sendPage(reply, {
    title,
    shape: "narrow",
    refused,
    cards: [
      {
        title,
        lead,
        body: isTheirs
          ? postButton(`${PATH}/accept`, button, { fields: link, kind: "primary" })
          : person
            ? html`<p>You are signed in as <strong>${person.email}</strong>. Sign out, and open this link again as ${email}; or ask for an invitation to ${person.email}.</p>
${postButton("/portal/sign-out", "Sign out")}`
            : html`<p>Sign in as ${email} to accept it.</p>
<p><a class="button button-primary" href="${signInPath(pathOf(link))}">Sign in</a></p>`,
      },
    ],
  });
}

function pathOf({ id, token }: InvitationLink): string {
  return `${PATH}?${new URLSearchParams({ id, token })}`;
}
