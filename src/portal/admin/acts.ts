// What the operator can do from the console, each with its arguments: forms and JSON routes are made from this list.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { closeAccount } from "../../commands/account/close-account.ts";
import { deactivateKey } from "../../commands/account/keys.ts";
import { INVITATION_MS, invite } from "../../commands/account/one-time-tokens.ts";
import { emailSecret } from "../../commands/account/secrets.ts";
import { changeTier } from "../../commands/account/tier.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { blockLink, namedLink, unblockLink } from "../../commands/links/change-link.ts";
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
import { Refused } from "../../runtime/refused.ts";
import { count } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { redirectTo } from "../shell/visit.ts";
import { type ConsoleDeps, operatorContext } from "./access.ts";
import { orRefusal } from "./question-page.ts";
import { accountPath, projectionPath, streamPath } from "./view.ts";

/** `path`: of the form below /admin, and of the JSON route below /admin/api, which answers with `status`, by default 200. */
type Act<Params extends z.ZodObject, Body extends z.ZodType<object>, Answer extends object> = {
  path: string;
  params?: Params;
  body?: Body;
  status?: 201 | 202;
  run(deps: ConsoleDeps, context: CommandContext, args: z.infer<Params> & z.infer<Body>): Promise<Answer>;
  /** What the form's page says then, and where that is. */
  done(args: z.infer<Params> & z.infer<Body>, answer: Answer): string;
  page(args: z.infer<Params> & z.infer<Body>, deps: ConsoleDeps, isDone: boolean): string;
};

type None = z.ZodObject<Record<never, never>>;

function act<Answer extends object, Params extends z.ZodObject = None, Body extends z.ZodType<object> = None>(
  given: Act<Params, Body, Answer>,
): Act<z.ZodObject, z.ZodType<object>, object> {
  return given as unknown as Act<z.ZodObject, z.ZodType<object>, object>;
}

const link = z.string().min(1).max(500);
const reason = z.string().max(1_000).default("");
/** A checked box of a form is `yes`. */
const flag = z.preprocess((value) => (value === "yes" ? true : value), z.boolean().default(false));

const DONE = {
  rebuild: "A new build is being computed, beside the one that answers.",
  cancel: "The build was cancelled, and what it had computed is dropped.",
  rollback: "The previous build takes in what it lacks, and then takes over.",
  tier: "The account is on the other plan from now on.",
  "deactivate-key": "The key is deactivated: requests with it are refused.",
  close: "The account is closed. Its links are deleted within a minute.",
} as const;

const OPERATE = { rebuild: requestRebuild, cancel: cancelBuild, rollback: requestRollback };

/** `confirm`: the account's e-mail address or id, as closing can't be undone. */
const AccountAct = z.discriminatedUnion("act", [
  z.object({ act: z.literal("tier"), tier: z.enum(TIERS) }),
  z.object({ act: z.literal("deactivate-key"), key_id: z.uuid() }),
  z.object({ act: z.literal("close"), confirm: z.string().trim().max(500) }),
]);

const acts = [
  act({
    path: "/projections/:name/:act",
    params: z.object({
      name: z.string().max(100),
      act: z.enum(["rebuild", "cancel", "rollback"]),
    }),
    status: 202,
    async run({ foldStore: readStore, ...others }, context, { name, act }) {
      const deps = { ...others, readStore };
      for (const group of groupsNamed([name])) await OPERATE[act](deps, context, group);
      return { projection: name, act };
    },
    done: ({ act }) => DONE[act],
    page: ({ name }) => projectionPath(name),
  }),
  act({
    path: "/verification",
    status: 202,
    run: async ({ verifications }, context) => ({ verification: await verifications.start(context) }),
    done: () => "The log is being verified.",
    page: () => "/admin/seals",
  }),
  act({
    path: "/accounts/invite",
    body: z.object({ email: z.string().max(300), tier: z.enum(TIERS) }),
    status: 201,
    async run(deps, _, invitation) {
      const { email, path, expiresAt } = await invite(deps, invitation, INVITATION_MS);
      return { email, tier: invitation.tier, link: `${deps.baseUrl}${path}`, expires_at: expiresAt };
    },
    done: (_, { link }) => `Send this link, which works once, within a week: ${link}`,
    page: () => "/admin/accounts",
  }),
  act({
    path: "/links/block",
    body: z.object({ link, reason, legal: flag }),
    async run(deps, context, { link, ...why }) {
      const address = namedLink(link, deps.baseHost);
      const { position } = await blockLink(deps, context, address, why);
      return { ...address, blocked: true, position };
    },
    done: () => "The link is blocked. Its owner sees the reason.",
    page: pageOfLink,
  }),
  act({
    path: "/links/unblock",
    body: z.object({ link }),
    async run(deps, context, args) {
      const address = namedLink(args.link, deps.baseHost);
      const { position } = await unblockLink(deps, context, address);
      return { ...address, blocked: false, position };
    },
    done: () => "The link is no longer blocked.",
    page: pageOfLink,
  }),
  act({
    path: "/withdrawals",
    body: questions["withdrawals/preview"].args.extend({ reason }),
    status: 201,
    async run(deps, context, { link, reason, ...hits }) {
      const wanted = { ...hitsNamed(hits), reason };
      const made = await withdrawClicks(deps, context, namedLink(link, deps.baseHost), wanted);
      return { withdrawal_id: made.withdrawalId, position: made.position, ...previewRow(made) };
    },
    done: (_, { clicks }) =>
      `${count(clicks)} hits no longer count, from the moment the projector has seen it.`,
    page: ({ reason: _, ...args }, __, isDone) =>
      address("/admin/withdrawals", isDone ? { link: args.link } : args),
  }),
  act({
    path: "/withdrawals/restore",
    body: z.object({ link, withdrawal_id: z.uuid() }),
    async run(deps, context, { link, withdrawal_id }) {
      const { position } = await restoreClicks(deps, context, namedLink(link, deps.baseHost), withdrawal_id);
      return { withdrawal_id, restored: true, position };
    },
    done: () => "Its hits count again, unless another withdrawal covers them.",
    page: ({ link }) => address("/admin/withdrawals", { link }),
  }),
  act({
    path: "/accounts/:account",
    params: questions["accounts/:account"].args,
    body: AccountAct,
    async run(deps, context, { account, ...args }) {
      const id = await accountNamed(deps, account);
      const { position } = await changed(deps, context, id, args);
      await deps.whenReadable(position);
      return await accountDetails(deps, id);
    },
    done: ({ act }) => DONE[act],
    page: ({ account }) => accountPath(account),
  }),
];

async function changed(
  deps: ConsoleDeps,
  context: CommandContext,
  id: string,
  args: z.infer<typeof AccountAct>,
) {
  if (args.act === "tier") return await changeTier(deps, context, id, args.tier);
  if (args.act === "deactivate-key") return await deactivateKey(deps, context, id, args.key_id);
  const email = await deps.secrets.get(emailSecret(id), deps.clock());
  if (args.confirm !== id && args.confirm !== email)
    throw new Refused(
      "invalid_request",
      "The account stays open: what was typed is neither its e-mail address nor its id",
    );
  return await closeAccount(deps, context, id);
}

function pageOfLink({ link }: { link: string }, { baseHost }: ConsoleDeps): string {
  const { host, slug } = namedLink(link, baseHost);
  return streamPath(linkStream(host, slug));
}

export function actForms(pages: Api, deps: ConsoleDeps): void {
  for (const { path, params, body, run, done, page } of acts)
    pages.post(path, { schema: schemaOf(params, body) }, async (request, reply) => {
      const args = { ...request.params, ...request.body };
      const { answer, notice } = await orRefusal(run(deps, operatorContext(request), args));
      const told = answer ? ({ kind: "done", text: done(args, answer) } as const) : notice;
      return redirectTo(reply, page(args, deps, answer !== undefined), told);
    });
}

export function actRoutes(api: Api, deps: ConsoleDeps): void {
  for (const { path, params, body, run, status = 200 } of acts)
    api.post(path, { schema: schemaOf(params, body) }, async (request, reply) => {
      const args = { ...request.params, ...request.body };
      return reply.code(status).send(await run(deps, operatorContext(request), args));
    });
}

const NOTHING = z.object({});

/** Of an act without arguments, or whose arguments have defaults, the body may be missing. */
function schemaOf(params: z.ZodObject = NOTHING, body: z.ZodType<object> = NOTHING) {
  return { params, body: z.preprocess((value) => value ?? {}, body) };
}
