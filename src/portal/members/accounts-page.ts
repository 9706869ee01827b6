// The accounts that somebody is a member of: which one to look at, under /portal/accounts, and how to leave one.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { opened } from "../../commands/account/account.ts";
import { removeMember } from "../../commands/account/members.ts";
import type { Role } from "../../events/vocabulary.ts";
import { accountName } from "../../queries/people.ts";
import { Refused } from "../../runtime/refused.ts";
import type { SignInDeps } from "../auth/start-session.ts";
import { formRoute } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { type Columns, postButton, tableCard } from "../shell/parts.ts";
import { ACCOUNTS_PATH, type SignedInPerson } from "../shell/sessions.ts";

const Chosen = z.object({ account: z.uuid() });

type Row = { accountId: string; name: string; role: Role };

export function accountsPages(app: Api, deps: SignInDeps): void {
  const person = ({ visit, url }: FastifyRequest, reply: FastifyReply): SignedInPerson | undefined => {
    if (!visit.person) void reply.redirect(`/portal/sign-in?next=${encodeURIComponent(url)}`, 303);
    return visit.person;
  };

  app.get("/accounts", async (request, reply) => {
    const who = person(request, reply);
    return who ? await sendAccounts(deps, request, reply, who) : reply;
  });

  app.post("/accounts", { schema: { body: Chosen } }, async (request, reply) => {
    const who = person(request, reply);
    if (!who) return reply;
    await deps.sessions.enter(who, request.body.account);
    return reply.redirect("/portal", 303);
  });

  formRoute(app, deps, "/account/leave", {
    run: async ({ context, session: { accountId, personId } }) => {
      const { position } = await removeMember(deps, context, accountId, personId);
      return { position, to: ACCOUNTS_PATH, notice: "You have left the account." };
    },
    path: "/portal/account",
    again: "back",
  });
}

async function sendAccounts(
  deps: SignInDeps,
  { visit: { session } }: FastifyRequest,
  reply: FastifyReply,
  { personId, email }: SignedInPerson,
): Promise<FastifyReply> {
  const rows = (await deps.accountsOf(personId)).map(async (accountId): Promise<Row> => {
    const { members } = opened(await deps.links.currentAccount(accountId));
    const role = members.get(personId)?.role;
    if (role === undefined) throw new Refused("not_a_member");
    return { accountId, name: await accountName(deps, accountId), role };
  });
  const columns: Columns<Row> = {
    Account: ({ name }) => html`<strong>${name}</strong>`,
    "Your role": "role",
    Actions: {
      isHidden: true,
      end: true,
      cell: ({ accountId, name }) =>
        accountId === session?.accountId
          ? html`<span class="badge badge-good">Open now</span>`
          : postButton(ACCOUNTS_PATH, "Open", {
              fields: { account: accountId },
              kind: "small",
              label: `Open ${name}`,
            }),
    },
  };
  return sendPage(reply, {
    title: "Your accounts",
    lead: `You are signed in as ${email}.`,
    cards: [
      tableCard("Accounts that you are a member of", columns, await Promise.all(rows), {
        none: [
          "You are a member of no account",
          "Somebody who invites you sends you a link. Until then there is nothing to see here.",
          "person",
        ],
      }),
    ],
  });
}
