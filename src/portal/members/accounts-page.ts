// The accounts that somebody is a member of, under /portal/accounts: which one to look at, how to leave one, and how who is in
// none opens one.
import type { FastifyReply } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { opened } from "../../commands/account/account.ts";
import { removeMember } from "../../commands/account/change-members.ts";
import { openOwnAccount } from "../../commands/account/sign-up.ts";
import { isOperator } from "../../commands/people/person-stream.ts";
import { Refused } from "../../commands/refusals.ts";
import type { Role } from "../../events/vocabulary.ts";
import { accountName } from "../../queries/people.ts";
import { addressIn } from "../account-address.ts";
import { countForm } from "../auth/form-page.ts";
import type { SignInDeps } from "../auth/start-session.ts";
import { formRoute } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { badge, type Card, type Columns, postButton, tableCard } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { ACCOUNTS_PATH, signedInPerson } from "../shell/sessions.ts";

type Row = { accountId: string; name: string; role: Role };

export function accountsPages(app: Api, deps: SignInDeps): void {
  app.get("/accounts", (_, reply) => sendAccounts(deps, reply));

  formRoute(app, deps, "/accounts", {
    count: "uncounted",
    run: async ({ request, context, person: { personId } }) => {
      await countForm(deps, "/sign-up", request);
      if (deps.signUp === "closed") throw new Refused("sign_up_closed");
      const newcomer = { personId, tier: deps.defaultTier };
      const { accountId, position } = await openOwnAccount(deps, context, newcomer);
      const notice = "Your account is open: you are its owner.";
      return { position, to: addressIn(accountId, "/portal"), notice };
    },
  });

  formRoute(app, deps, "/account/leave", {
    run: async ({ context, session: { accountId, personId } }) => {
      const { position } = await removeMember(deps, context, accountId, personId);
      return { position, to: ACCOUNTS_PATH, notice: "You have left the account." };
    },
    again: "back",
  });
}

async function sendAccounts(deps: SignInDeps, reply: FastifyReply): Promise<FastifyReply> {
  const { session } = reply.request.visit;
  const { personId, email, provider } = signedInPerson(reply.request);
  const reading = (await deps.accountsOf(personId)).map(async (accountId): Promise<Row> => {
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
          ? badge("good", "Open now")
          : html`<a class="button button-small" href="${addressIn(accountId, "/portal")}" aria-label="Open ${name}">Open</a>`,
    },
  };
  const rows = await Promise.all(reading);
  return sendPage(reply, {
    title: "Your accounts",
    lead: html`You are signed in as ${email || "somebody without an address"}: <a href="/portal/profile">your profile</a>.`,
    cards: [
      rows.length === 0 ? inNone(deps) : tableCard("Accounts that you are a member of", columns, rows),
      (provider?.isOperator || (await isOperator(deps.eventStore, personId))) && CONSOLE,
    ],
  });
}

const CONSOLE: Card = {
  title: "You are an operator of this service",
  lead: "What you do in the console is recorded with your name.",
  body: html`<div><a class="button" href="/admin">Open the console</a></div>`,
};

function inNone({ signUp }: SignInDeps): Card {
  const isOpen = signUp === "open";
  return {
    title: "You are a member of no account",
    lead: `Somebody who invites you sends you a link. ${isOpen ? "Or open an account of your own." : "Accounts of your own are made by the operator of this service."}`,
    body: isOpen && postButton(ACCOUNTS_PATH, "Open an account", { kind: "primary" }),
  };
}
