// Who is in the account, under /portal/members: with the role of each, invitations, and one form that invites.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { opened } from "../../commands/account/account.ts";
import {
  changeMemberRole,
  inviteMember,
  removeMember,
  resendInvitation,
  withdrawInvitation,
} from "../../commands/account/members.ts";
import { isWithin, may, RIGHTS } from "../../commands/people/rights.ts";
import { ROLES, type Role } from "../../events/vocabulary.ts";
import { type InvitationRow, type MemberRow, memberRows, nameOf } from "../../queries/people.ts";
import { countMail } from "../auth/form-page.ts";
import { mail, sendMail } from "../auth/mails.ts";
import type { SignInDeps } from "../auth/start-session.ts";
import { type Fields, field, schemaOf } from "../shell/form.ts";
import { formRoute } from "../shell/form-route.ts";
import { type HtmlValue, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import {
  type Columns,
  confirmed,
  confirmedPost,
  copyable,
  postButton,
  tableCard,
  time,
} from "../shell/parts.ts";
import type { RefusedForm } from "../shell/refused-form.ts";
import { requireSession, type SignedIn, signedIn } from "../shell/sessions.ts";

const PATH = "/portal/members";
const ROLE_NAMES: Readonly<Record<Role, string>> = {
  owner: "Owner",
  admin: "Admin",
  editor: "Editor",
  viewer: "Viewer",
};
const RoleForm = z.object({ role: z.enum(ROLES) });
const MemberParams = z.object({ personId: z.uuid() });
const InvitationParams = z.object({ invitationId: z.uuid() });

/** `most`: the role of who invites. */
const inviteFields = (most: Role) =>
  ({
    email: { label: "E-mail address", type: "email", required: true, maxlength: 254, autocomplete: "off" },
    role: {
      label: "Role",
      options: rolesWithin(most).reverse(),
      schema: z.enum(ROLES),
      hint: "Viewers see everything, editors make and change links, admins look after the rest.",
    },
  }) satisfies Fields;

export function membersPages(app: Api, deps: SignInDeps): void {
  const show = (request: FastifyRequest, reply: FastifyReply, refused?: RefusedForm) =>
    sendMembers(deps, request, reply, refused);
  app.get("/members", { preHandler: requireSession }, (request, reply) => show(request, reply));

  const isMailed = deps.mailer !== undefined;
  /** Mails the link, or shows it where the service sends no mail. */
  const sent = async (
    reply: FastifyReply,
    { email, path, position }: Awaited<ReturnType<typeof inviteMember>>,
  ) => {
    const link = `${deps.baseUrl}${path}`;
    const { mailer, log } = deps;
    if (!mailer) return { position, to: () => sendLink(reply, email, link) };
    await countMail(deps, email);
    sendMail({ mailer, log }, async () => mail("invitation", email, link));
    return { position, to: PATH, notice: `A mail to ${email} is on its way; its link works for seven days.` };
  };

  formRoute(app, deps, "/members", {
    schema: { body: schemaOf(inviteFields("owner")) },
    run: async ({ reply, context, session: { accountId }, body }) =>
      await sent(reply, await inviteMember(deps, context, accountId, { ...body, isMailed })),
    path: PATH,
    again: (refused, request, reply) => show(request, reply, refused),
  });

  formRoute(app, deps, "/members/invitations/:invitationId/resend", {
    schema: { params: InvitationParams },
    run: async ({ reply, context, session: { accountId }, params: { invitationId } }) =>
      await sent(reply, await resendInvitation(deps, context, accountId, invitationId, isMailed)),
    path: PATH,
    again: "back",
  });

  formRoute(app, deps, "/members/invitations/:invitationId/withdraw", {
    schema: { params: InvitationParams },
    run: async ({ context, session: { accountId }, params: { invitationId } }) => {
      const { position } = await withdrawInvitation(deps, context, accountId, invitationId);
      return { position, to: PATH, notice: "The invitation is withdrawn: its link no longer works." };
    },
    path: PATH,
    again: "back",
  });

  formRoute(app, deps, "/members/:personId/role", {
    schema: { params: MemberParams, body: RoleForm },
    run: async ({ context, session: { accountId }, params: { personId }, body: { role } }) => {
      const { position } = await changeMemberRole(deps, context, accountId, personId, role);
      const { name, email } = await nameOf(deps, personId);
      const { mailer, log, baseUrl } = deps;
      if (mailer && email && position)
        sendMail({ mailer, log }, async () => mail("roleChanged", email, baseUrl));
      return { position, to: PATH, notice: `${name} is ${ROLE_NAMES[role].toLowerCase()} now.` };
    },
    path: PATH,
    again: "back",
  });

  formRoute(app, deps, "/members/:personId/remove", {
    schema: { params: MemberParams },
    run: async ({ context, session: { accountId }, params: { personId } }) => {
      const { position } = await removeMember(deps, context, accountId, personId);
      return { position, to: PATH, notice: "The membership has ended, and with it their keys." };
    },
    path: PATH,
    again: "back",
  });
}

async function sendMembers(
  deps: SignInDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  refused: RefusedForm | undefined,
): Promise<FastifyReply> {
  const session = signedIn(request);
  const account = opened(await deps.links.currentAccount(session.accountId));
  const { members, invitations } = await memberRows(deps, account);
  const mayInvite = may(session.role, "members");
  return sendPage(reply, {
    title: "Members",
    nav: "Members",
    refused,
    lead: html`You are ${ROLE_NAMES[session.role].toLowerCase()}: you may ${RIGHTS[mayInvite ? "members" : "read"].means}.`,
    cards: [
      mayInvite && {
        title: "Invite somebody",
        form: {
          action: PATH,
          fields: inviteFields(session.role),
          values: { role: "editor" },
          refused,
          button: "Invite",
          buttonKind: "primary",
        },
      },
      tableCard("Members of this account", memberColumns(session), members),
      mayInvite && tableCard("Open invitations", invitationColumns(session.role), invitations),
    ],
  });
}

function memberColumns(session: SignedIn): Columns<MemberRow> {
  return {
    Name: ({ name, email }) =>
      html`<strong>${name}</strong>${email !== null && email !== name && html`<br><span class="muted small">${email}</span>`}`,
    Role: ({ role }) => ROLE_NAMES[role],
    Since: ({ joined_at: at }) => time(at),
    Actions: { isHidden: true, end: true, cell: (member) => actionsOn(session, member) },
  };
}

function actionsOn({ personId, role: own }: SignedIn, { person_id: id, name, role }: MemberRow): HtmlValue {
  if (id === personId) return html`<span class="badge badge-good">You</span>`;
  if (!may(own, "members") || !isWithin(role, own)) return false;
  const roles = field({
    label: "Role",
    name: "role",
    id: `role-${id}`,
    value: role,
    options: rolesWithin(own),
  });
  const change = confirmed(
    "Change role",
    html`<p>What may <strong>${name}</strong> do here?</p>`,
    html`<form method="post" action="${PATH}/${id}/role">${roles}<button class="button button-primary">Change role</button></form>`,
  );
  const removal = confirmedPost(
    "Remove",
    html`<strong>${name}</strong> sees nothing of this account any more, at once. Their own keys end; links and keys of the account stay.`,
    `${PATH}/${id}/remove`,
    "Remove from the account",
  );
  return html`<div class="actions">${change}${removal}</div>`;
}

function invitationColumns(own: Role): Columns<InvitationRow> {
  return {
    Address: ({ email }) => html`<strong>${email ?? "unknown"}</strong>`,
    Role: ({ role }) => ROLE_NAMES[role],
    Expires: ({ expires_at: at }) => time(at),
    Actions: {
      isHidden: true,
      end: true,
      cell: ({ invitation_id: id, email, role }) =>
        isWithin(role, own) &&
        html`<div class="actions">${postButton(`${PATH}/invitations/${id}/resend`, "Send again", {
          kind: "small",
          label: `Invite ${email} again`,
        })}${postButton(`${PATH}/invitations/${id}/withdraw`, "Withdraw", {
          kind: "small",
          label: `Withdraw the invitation of ${email}`,
        })}</div>`,
    },
  };
}

function sendLink(reply: FastifyReply, email: string, link: string): FastifyReply {
  return sendPage(reply, {
    title: "Invitation",
    nav: "Members",
    cards: [
      {
        title: html`Give this link to ${email}`,
        body: html`${copyable("invitation", link, "the link")}
<p><a class="button" href="${PATH}">Go to the members</a></p>`,
        lead: "It works once, for seven days, for who signs in with that address. It is shown this once only; sending it again makes a new one.",
      },
    ],
  });
}

/** Highest first. */
function rolesWithin(most: Role): [Role, string][] {
  return ROLES.filter((role) => isWithin(role, most)).map((role) => [role, ROLE_NAMES[role]]);
}
