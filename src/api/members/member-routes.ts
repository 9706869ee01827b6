// The members of the key's account and its invitations under /api/v1: the HTTP face of commands/account/invitations.ts and
// change-members.ts.
import { z } from "zod";
import { opened } from "../../commands/account/account.ts";
import type { CurrentAccount } from "../../commands/account/account-stream.ts";
import { changeMemberRole, removeMember } from "../../commands/account/change-members.ts";
import { inviteMember, withdrawInvitation } from "../../commands/account/invitations.ts";
import type { CommandDeps } from "../../commands/handle-command.ts";
import type { Mailer } from "../../commands/mail/mailer.ts";
import { ROLES } from "../../events/vocabulary.ts";
import type { RateLimits } from "../../limits/rate-limit.ts";
import { countMail } from "../../limits/rate-limit.ts";
import { memberRows } from "../../queries/people.ts";
import type { Logger } from "../../runtime/logging.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { type Api, contextOf } from "../fastify.ts";
import { apiErrors, time } from "../schemas.ts";

export type MemberDeps = {
  links: CommandDeps;
  secrets: Secrets;
  mailer: Mailer | undefined;
  log: Logger;
  rateLimits: RateLimits;
  clock: () => Date;
  currentAccount: CurrentAccount;
  baseUrl: string;
  /** Resolves when the processes of this service on this machine go by what is in the log now. */
  changesAreFollowed: () => Promise<void>;
};

const role = z
  .enum(ROLES)
  .meta({ description: "See docs/people.md for what each may do", examples: ["editor"] });
const Member = z
  .object({
    person_id: z.uuid(),
    email: z.string().nullable(),
    name: z.string().meta({ description: "As they want to be called; by default their address" }),
    role,
    joined_at: time,
  })
  .meta({ id: "Member" });
const invitation = {
  invitation_id: z.uuid(),
  email: z.string().nullable(),
  role,
  expires_at: time,
};
const Invitation = z
  .object({
    ...invitation,
    invited_at: time,
    invited_by: z
      .string()
      .nullable()
      .meta({ description: "The person or API key whose role bounds it; null for the operator" }),
  })
  .meta({ id: "Invitation" });
const NewInvitation = z
  .object({
    ...invitation,
    link: z.string().nullable().meta({
      description:
        "For who signs in with that address, once, within a week: shown this once; null where it was mailed to them",
    }),
  })
  .meta({ id: "NewInvitation" });
const InvitationRequest = z
  .strictObject({ email: z.string().meta({ examples: ["colleague@example.com"] }), role })
  .meta({ id: "InvitationRequest" });
const MemberPatch = z.strictObject({ role }).meta({ id: "MemberPatch" });

const TAGS = ["Members"];
const CAP = "Nobody gives, changes or takes a role above their own: a key of the account counts as an admin.";

export function memberRoutes(app: Api, deps: MemberDeps): void {
  const { secrets, mailer, log, clock, baseUrl } = deps;
  const telling = { ...deps.links, secrets, mailer, log, clock, baseUrl };
  const rowsOf = async (accountId: string) =>
    await memberRows(telling, opened(await deps.currentAccount(accountId)));

  const list = {
    operationId: "listMembers",
    summary: "List the account's members",
    description: "All of them, by the time at which they joined.",
    tags: TAGS,
    response: { 200: z.object({ members: z.array(Member) }), ...apiErrors(401) },
  };
  app.get("/api/v1/members", { schema: list }, async ({ caller }) => {
    const { members } = await rowsOf(caller.accountId);
    return { members };
  });

  const params = z.object({ person_id: z.uuid() });
  const change = {
    operationId: "changeMember",
    summary: "Give a member another role",
    description: `${CAP} The last owner stays one.`,
    tags: TAGS,
    params,
    body: MemberPatch,
    response: { 200: Member, ...apiErrors(400, 401, 403, 404, 409) },
  };
  app.patch("/api/v1/members/:person_id", { schema: change }, async (request) => {
    const { caller, params, body } = request;
    await changeMemberRole(telling, contextOf(request), caller.accountId, params.person_id, body.role);
    await deps.changesAreFollowed();
    const { members } = await rowsOf(caller.accountId);
    return members.find(({ person_id: id }) => id === params.person_id) as (typeof members)[number];
  });

  const remove = {
    operationId: "removeMember",
    summary: "Remove a member",
    description: `Ends their own keys, too. ${CAP} The last owner stays.`,
    tags: TAGS,
    params,
    response: { 204: z.undefined().describe("No member any more"), ...apiErrors(400, 401, 403, 404, 409) },
  };
  app.delete("/api/v1/members/:person_id", { schema: remove }, async (request, reply) => {
    const { accountId } = request.caller;
    await removeMember(telling, contextOf(request), accountId, request.params.person_id);
    await deps.changesAreFollowed();
    return reply.code(204).send();
  });

  const pending = {
    operationId: "listInvitations",
    summary: "List the account's open invitations",
    tags: TAGS,
    response: { 200: z.object({ invitations: z.array(Invitation) }), ...apiErrors(401) },
  };
  app.get("/api/v1/invitations", { schema: pending }, async ({ caller }) => {
    const { invitations } = await rowsOf(caller.accountId);
    return { invitations };
  });

  const invite = {
    operationId: "inviteMember",
    summary: "Invite somebody to the account",
    description: `An open invitation of the address is sent again: its earlier link no longer works. ${CAP}`,
    tags: TAGS,
    body: InvitationRequest,
    response: { 201: NewInvitation, ...apiErrors(400, 401, 403, 409, 503) },
  };
  app.post("/api/v1/invitations", { schema: invite }, async (request, reply) => {
    const { caller, body } = request;
    if (mailer) await countMail(deps, body.email);
    const invited = await inviteMember(telling, contextOf(request), caller.accountId, body);
    return reply.code(201).send({
      invitation_id: invited.invitationId,
      email: invited.email,
      role: invited.role,
      expires_at: invited.expiresAt,
      link: invited.link,
    });
  });

  const withdraw = {
    operationId: "withdrawInvitation",
    summary: "Withdraw an invitation",
    tags: TAGS,
    params: z.object({ invitation_id: z.uuid() }),
    response: { 204: z.undefined().describe("Its link no longer works"), ...apiErrors(400, 401, 403, 404) },
  };
  app.delete("/api/v1/invitations/:invitation_id", { schema: withdraw }, async (request, reply) => {
    const { caller, params } = request;
    await withdrawInvitation(telling, contextOf(request), caller.accountId, params.invitation_id);
    return reply.code(204).send();
  });
}
