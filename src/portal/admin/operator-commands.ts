// What the operator can do from the console, each with its arguments: forms and JSON routes are made from this list.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { deactivateKey } from "../../commands/account/change-keys.ts";
import { removePersonEverywhere } from "../../commands/account/change-members.ts";
import { closeAccount } from "../../commands/account/close-account.ts";
import { changeTier } from "../../commands/account/tier.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { blockLink, unblockLink } from "../../commands/links/block-link.ts";
import { endSessions } from "../../commands/people/change-person.ts";
import { INVITATION_MS, invite } from "../../commands/people/one-time-tokens.ts";
import { Refused } from "../../commands/refusals.ts";
import { restoreClicks, withdrawClicks } from "../../commands/withdrawals/withdraw-clicks.ts";
import { linkStream } from "../../events/streams.ts";
import { TIERS } from "../../events/vocabulary.ts";
import {
  cancelBuild,
  groupsNamed,
  requestRebuild,
  requestRollback,
} from "../../projections/builds/operate.ts";
import { accountDetails } from "../../queries/accounts.ts";
import { accountNamed, hitsNamed, questions } from "../../queries/audit/questions.ts";
import { previewRow } from "../../queries/audit/withdrawal-rows.ts";
import { namedLink } from "../../queries/links/named-link.ts";
import { ownerEmail } from "../../queries/people.ts";
import { count } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { redirectTo } from "../shell/request-visit.ts";
import { type ConsoleDeps, operatorContext } from "./access.ts";
import { accountPath, projectionPath, streamPath } from "./answer-cells.ts";
import { orRefusal } from "./question-page.ts";

type Shape = z.ZodType<object>;
/** `path`: of the form below /admin, and of the JSON route below /admin/api, which answers with `status`, by default 200. */
type OperatorCommand<Params extends Shape, Body extends Shape, Answer extends object> = {
  path: string;
  params?: Params;
  body?: Body;
  status?: 201 | 202;
  run(deps: ConsoleDeps, context: CommandContext, args: z.infer<Params> & z.infer<Body>): Promise<Answer>;
  /** What the form's page says then, and where that is. */
  notice: string | ((args: z.infer<Params> & z.infer<Body>, answer: Answer) => string);
  page: string | ((args: z.infer<Params> & z.infer<Body>, deps: ConsoleDeps, isDone: boolean) => string);
};

type None = z.ZodObject<Record<never, never>>;

function command<Answer extends object, Params extends Shape = None, Body extends Shape = None>(
  declared: OperatorCommand<Params, Body, Answer>,
): OperatorCommand<Shape, Shape, object> {
  return declared as unknown as OperatorCommand<Shape, Shape, object>;
}

const link = z.string().min(1).max(500);
const reason = z.string().max(1_000).default("");
/** A ticked box of a form sends `1` beside its empty value. */
const flag = z.preprocess(
  (sent) => ([sent].flat().includes("1") ? true : sent === "" ? false : sent),
  z.boolean().default(false),
);

const NOTICES = {
  rebuild: "A new build is being computed, beside the one that answers.",
  cancel: "The build was cancelled, and what it had computed is dropped.",
  rollback: "The previous build takes in what it lacks, and then takes over.",
  tier: "The account is on the other plan from now on.",
  "deactivate-key": "The key is deactivated: requests with it are refused.",
  close: "The account is closed. Its links are deleted within a minute.",
  "end-sessions": "They are signed out everywhere.",
  remove: "What named the person is destroyed, and their memberships have ended.",
} as const;

const OPERATE = { rebuild: requestRebuild, cancel: cancelBuild, rollback: requestRollback };

const OF_PEOPLE = { "end-sessions": endSessions, remove: removePersonEverywhere };

/** `confirm`: the account's e-mail address or id, as closing can't be undone. */
const AccountChange = z.discriminatedUnion("act", [
  z.object({ act: z.literal("tier"), tier: z.enum(TIERS) }),
  z.object({ act: z.literal("deactivate-key"), key_id: z.uuid() }),
  z.object({ act: z.literal("close"), confirm: z.string().trim().max(500) }),
]);

const COMMANDS = [
  command({
    path: "/projections/:name/:act",
    params: z.object({ name: z.string().max(100), act: z.enum(["rebuild", "cancel", "rollback"]) }),
    status: 202,
    async run({ foldStore: readStore, ...others }, context, { name, act }) {
      for (const group of groupsNamed([name])) await OPERATE[act]({ ...others, readStore }, context, group);
      return { projection: name, act };
    },
    notice: ({ act }) => NOTICES[act],
    page: ({ name }) => projectionPath(name),
  }),
  command({
    path: "/verification",
    status: 202,
    run: async ({ verifications }, context) => ({ verification: await verifications.start(context) }),
    notice: "The log is being verified.",
    page: "/admin/seals",
  }),
  command({
    path: "/accounts/invite",
    body: z.object({ email: z.string().max(300), tier: z.enum(TIERS) }),
    status: 201,
    async run(deps, _, invitation) {
      // The page that its link leads to is none then.
      if (!deps.signIn.includes("password"))
        throw new Refused("sign_in_off", "Nobody signs in by a password here (SIGN_IN)");
      const { email, path, expiresAt } = await invite(
        deps,
        { ...invitation, isMailed: false },
        INVITATION_MS,
      );
      return { email, tier: invitation.tier, link: `${deps.baseUrl}${path}`, expires_at: expiresAt };
    },
    notice: (_, { link }) => `Send this link, which works once, within a week: ${link}`,
    page: "/admin/accounts",
  }),
  command({
    path: "/links/block",
    body: z.object({ link, reason, legal: flag }),
    async run(deps, context, { link, ...why }) {
      const address = namedLink(link, deps.baseHost);
      const { position } = await blockLink(deps, context, address, why);
      return { ...address, blocked: true, position };
    },
    notice: "The link is blocked. Its owner sees the reason.",
    page: pageOfLink,
  }),
  command({
    path: "/links/unblock",
    body: z.object({ link }),
    async run(deps, context, args) {
      const address = namedLink(args.link, deps.baseHost);
      const { position } = await unblockLink(deps, context, address);
      return { ...address, blocked: false, position };
    },
    notice: "The link is no longer blocked.",
    page: pageOfLink,
  }),
  command({
    path: "/withdrawals",
    body: questions["withdrawals/preview"].args.extend({ reason }),
    status: 201,
    async run(deps, context, { link, reason, ...hits }) {
      const wanted = { ...hitsNamed(hits), reason };
      const withdrawal = await withdrawClicks(deps, context, namedLink(link, deps.baseHost), wanted);
      return {
        withdrawal_id: withdrawal.withdrawalId,
        position: withdrawal.position,
        ...previewRow(withdrawal),
      };
    },
    notice: (_, { clicks }) =>
      `${count(clicks)} hits no longer count, from the moment the projector has seen it.`,
    page: ({ reason: _, ...args }, __, isDone) =>
      address("/admin/withdrawals", isDone ? { link: args.link } : args),
  }),
  command({
    path: "/withdrawals/restore",
    body: z.object({ link, withdrawal_id: z.uuid() }),
    async run(deps, context, { link, withdrawal_id }) {
      const { position } = await restoreClicks(deps, context, namedLink(link, deps.baseHost), withdrawal_id);
      return { withdrawal_id, restored: true, position };
    },
    notice: "Its hits count again, unless another withdrawal covers them.",
    page: ({ link }) => address("/admin/withdrawals", { link }),
  }),
  command({
    path: "/people/:person/:act",
    params: z.object({ person: z.uuid(), act: z.enum(["end-sessions", "remove"]) }),
    async run(deps, context, { person, act }) {
      const { position } = await OF_PEOPLE[act](deps, context, person);
      await deps.whenReadable(position);
      return { person_id: person, act };
    },
    notice: ({ act }) => NOTICES[act],
    page: "/admin/people",
  }),
  command({
    path: "/accounts/:account",
    params: questions["accounts/:account"].args,
    body: AccountChange,
    async run(deps, context, { account, ...change }) {
      const id = await accountNamed(deps, account);
      const { position } = await changed(deps, context, id, change);
      await deps.whenReadable(position);
      return await accountDetails(deps, id);
    },
    notice: ({ act }) => NOTICES[act],
    page: ({ account }) => accountPath(account),
  }),
];

async function changed(
  deps: ConsoleDeps,
  context: CommandContext,
  id: string,
  change: z.infer<typeof AccountChange>,
) {
  if (change.act === "tier") return await changeTier(deps, context, id, change.tier);
  if (change.act === "deactivate-key") return await deactivateKey(deps, context, id, change.key_id);
  const email = await ownerEmail(deps, id);
  if (change.confirm === id || change.confirm === email) return await closeAccount(deps, context, id);
  const why = "The account stays open: what was typed is neither its e-mail address nor its id";
  throw new Refused("invalid_request", why);
}

function pageOfLink({ link }: { link: string }, { baseHost }: ConsoleDeps): string {
  const { host, slug } = namedLink(link, baseHost);
  return streamPath(linkStream(host, slug));
}

export function commandForms(pages: Api, deps: ConsoleDeps): void {
  for (const { path, run, notice: words, page, ...sent } of COMMANDS)
    pages.post(path, { schema: schemaOf(sent) }, async (request, reply) => {
      const args = { ...(request.params as object), ...request.body };
      const { answer, notice } = await orRefusal(run(deps, operatorContext(request), args));
      const to = typeof page === "string" ? page : page(args, deps, answer !== undefined);
      if (!answer) return redirectTo(reply, to, notice);
      return redirectTo(reply, to, {
        kind: "done",
        text: typeof words === "string" ? words : words(args, answer),
      });
    });
}

export function commandRoutes(api: Api, deps: ConsoleDeps): void {
  for (const { path, run, status = 200, ...sent } of COMMANDS)
    api.post(path, { schema: schemaOf(sent) }, async (request, reply) => {
      const args = { ...(request.params as object), ...request.body };
      return reply.code(status).send(await run(deps, operatorContext(request), args));
    });
}

const NOTHING = z.object({});

/** Of a command without arguments, or whose arguments have defaults, the body may be missing. */
function schemaOf({ params = NOTHING, body = NOTHING }: { params?: Shape; body?: Shape }) {
  return { params, body: z.preprocess((value) => value ?? {}, body) };
}
