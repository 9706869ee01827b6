// Who is in the account, under /portal/members: with the role of each, invitations, and one form that invites.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { opened } from "../../commands/account/account.ts";
import { changeMemberRole, removeMember } from "../../commands/account/change-members.ts";
import {
  type Invited,
  invitedAddress,
  inviteMember,
  resendInvitation,
  withdrawInvitation,
} from "../../commands/account/invitations.ts";
import { isWithin, may, RIGHTS } from "../../commands/people/rights.ts";
import { ROLES, type Role } from "../../events/vocabulary.ts";
import { countMail } from "../../limits/rate-limit.ts";
import { type InvitationRow, lastSignIn, type MemberRow, memberRows, nameOf } from "../../queries/people.ts";
import type { SignInDeps } from "../auth/start-session.ts";
import { type Fields, form, schemaOf } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { type HtmlValue, html } from "../shell/html.ts";
import {
  badge,
  type Columns,
  confirmed,
  confirmedPost,
  copyable,
  postButton,
  tableCard,
  time,
} from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import type { RefusedForm } from "../shell/refused-form.ts";
import { type SignedIn, signedIn } from "../shell/sessions.ts";

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
  const show = (reply: FastifyReply, refused?: RefusedForm) => sendMembers(deps, reply, { refused });
  app.get("/members", (_, reply) => show(reply));

  /** Says that the link was mailed, or shows it. */
  const sent = (reply: FastifyReply, { email, link, position }: Invited) =>
    link === null
      ? { position, notice: `A mail to ${email} is on its way; its link works for seven days.` }
      : { position, to: () => sendMembers(deps, reply, { link: { email, link } }) };

  formRoute(app, deps, "/members", {
    schema: { body: schemaOf(inviteFields("owner")) },
    async run({ reply, context, session: { accountId }, body }) {
      if (deps.mailer) await countMail(deps, body.email);
      return sent(reply, await inviteMember(deps, context, accountId, body));
    },
    again: show,
  });

  formRoute(app, deps, "/members/invitations/:invitationId/resend", {
    schema: { params: InvitationParams },
    async run({ reply, context, session: { accountId }, params: { invitationId } }) {
      const email = deps.mailer && (await invitedAddress(deps, invitationId));
      if (email !== undefined) await countMail(deps, email);
      return sent(reply, await resendInvitation(deps, context, accountId, invitationId));
    },
    again: "back",
  });

  formRoute(app, deps, "/members/invitations/:invitationId/withdraw", {
    schema: { params: InvitationParams },
    run: async ({ context, session: { accountId }, params: { invitationId } }) => {
      const { position } = await withdrawInvitation(deps, context, accountId, invitationId);
      return { position, notice: "The invitation is withdrawn: its link no longer works." };
    },
    again: "back",
  });

  formRoute(app, deps, "/members/:personId/role", {
    schema: { params: MemberParams, body: RoleForm },
    run: async ({ context, session: { accountId }, params: { personId }, body: { role } }) => {
      const { position } = await changeMemberRole(deps, context, accountId, personId, role);
      const { name } = await nameOf(deps, personId);
      return { position, notice: `${name} is ${ROLE_NAMES[role].toLowerCase()} now.` };
    },
    again: "back",
  });

  formRoute(app, deps, "/members/:personId/remove", {
    schema: { params: MemberParams },
    run: async ({ context, session: { accountId }, params: { personId } }) => {
      const { position } = await removeMember(deps, context, accountId, personId);
      return { position, notice: "The membership has ended, and with it their keys." };
    },
    again: "back",
  });
}

async function sendMembers(
  deps: SignInDeps,
  reply: FastifyReply,
  { refused, link }: { refused?: RefusedForm | undefined; link?: { email: string; link: string } },
): Promise<FastifyReply> {
  const session = signedIn(reply.request);
  const account = opened(await deps.links.currentAccount(session.accountId));
  const rows = await memberRows(deps, account);
  const mayInvite = may(session.role, "members");
  const members = await Promise.all(
    rows.members.map(async (member) => ({ ...member, last: await lastSignIn(deps, member.person_id) })),
  );
  return sendPage(reply, {
    title: "Members",
    nav: "Members",
    refused,
    lead: html`You are ${ROLE_NAMES[session.role].toLowerCase()}: you may ${RIGHTS[mayInvite ? "members" : "read"].means}.`,
    cards: [
      link && {
        title: html`Give this link to ${link.email}`,
        body: copyable("invitation", link.link, "the link"),
        lead: "It works once, for seven days, for who signs in with that address. It is shown this once only; sending it again makes a new one.",
      },
      {
        title: "Invite somebody",
        form: {
          action: PATH,
          fields: inviteFields(session.role),
          values: { role: "editor" },
          button: "Invite",
          buttonKind: "primary",
        },
      },
      tableCard("Members of this account", memberColumns(session, mayInvite), members),
      mayInvite && tableCard("Open invitations", invitationColumns(session.role), rows.invitations),
    ],
  });
}

type Row = MemberRow & { last: Awaited<ReturnType<typeof lastSignIn>> };

function memberColumns(session: SignedIn, seesSignIns: boolean): Columns<Row> {
  return {
    Name: ({ name, email }) =>
      html`<strong>${name}</strong>${email !== null && email !== name && html`<br><span class="muted small">${email}</span>`}`,
    Role: ({ role }) => ROLE_NAMES[role],
    Since: ({ joined_at: at }) => time(at),
    ...(seesSignIns && {
      "Last signed in": ({ last }: Row) =>
        last ? html`${time(last.at)}${last.way && `, by ${last.way}`}` : "not signed in",
    }),
    Actions: { isHidden: true, end: true, cell: (member) => actionsOn(session, member) },
  };
}

function actionsOn({ personId, role: own }: SignedIn, { person_id: id, name, role }: MemberRow): HtmlValue {
  if (id === personId) return badge("good", "You");
  if (!may(own, "members") || !isWithin(role, own)) return false;
  const change = confirmed(
    "Change role",
    html`<p>What may <strong>${name}</strong> do here?</p>`,
    form({
      action: `${PATH}/${id}/role`,
      fields: { role: { label: "Role", id: `role-${id}`, options: rolesWithin(own) } },
      values: { role },
      button: "Change role",
      buttonKind: "primary",
    }),
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

/** Highest first. */
function rolesWithin(most: Role): [Role, string][] {
  return ROLES.filter((role) => isWithin(role, most)).map((role) => [role, ROLE_NAMES[role]]);
}
