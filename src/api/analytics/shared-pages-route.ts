// GET and POST /api/v1/shared-pages, DELETE /api/v1/shared-pages/{page_id}: pages of numbers for whoever has their address.
import { z } from "zod";
import { opened, type SharedPage } from "../../commands/account/account.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import {
  endSharedPage,
  isOver,
  makeSharedPage,
  planSharedPage,
  SHARED_NAME_MAX,
} from "../../commands/sharing/shared-pages.ts";
import { SHARED_CARDS, SHARED_RANGES } from "../../events/accounts/sharing-events.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { acceptFilters } from "../../queries/analytics/filter-values.ts";
import { GROUPS } from "../../queries/analytics/question.ts";
import { type Api, contextOf } from "../fastify.ts";
import type { Idempotency } from "../idempotency.ts";
import type { LifeDeps } from "../links/life-routes.ts";
import { apiErrors, time } from "../schemas.ts";
import { linkKeyOf } from "./account-routes.ts";

type Deps = LifeDeps & {
  idempotency: Idempotency;
  secrets: Parameters<typeof makeSharedPage>[0]["secrets"];
};

const MOST_VALUES = 50;
const text = z.string().max(300);
const date = text.optional();

const view = {
  name: z
    .string()
    .max(4 * SHARED_NAME_MAX)
    .meta({ description: "Its heading", examples: ["Spring sale"] }),
  filters: z.partialRecord(z.enum(GROUPS), z.array(text.min(1)).min(1).max(MOST_VALUES)).meta({
    description:
      "Only these clicks, as the filters of `/analytics` take them; without any, all of the account",
    examples: [{ tag: ["newsletter"] }],
  }),
  range: z.enum(SHARED_RANGES).meta({
    description: "Up to now, beside the time before; `custom`: the days `from` to `to` alone",
    examples: ["30d"],
  }),
  from: date.meta({ description: "The first day", examples: ["2026-11-01"] }),
  to: date.meta({ description: "The last day", examples: ["2026-11-30"] }),
  timezone: text.meta({ description: "IANA time zone of its days and hours", examples: ["Europe/Berlin"] }),
  cards: z.array(z.enum(SHARED_CARDS)).meta({
    description: "The breakdowns that it has; what is shown by no card can't be filtered by",
    examples: [["places", "sources"]],
  }),
};

const NewSharedPage = z
  .strictObject({
    ...view,
    filters: view.filters.default({}),
    range: view.range.default("30d"),
    timezone: view.timezone.default("UTC"),
    cards: view.cards.default([...SHARED_CARDS]),
    password: z
      .string()
      .max(OPTION_LIMITS.password)
      .optional()
      .meta({
        description: "Visitors are asked for it. Kept as an argon2id hash, and never shown.",
        examples: ["open sesame"],
      }),
    ends_at: text.optional().meta({
      description: "A date or a time, ISO 8601; from then on it isn't shown",
      examples: ["2999-12-31"],
    }),
  })
  .meta({ id: "NewSharedPage" });

const page = {
  page_id: z.uuid(),
  ...view,
  has_password: z.boolean(),
  made_at: time,
  ends_at: time.nullable(),
  is_over: z.boolean().meta({ description: "Whether its end has come" }),
};
const SharedPageObject = z.object(page).meta({ id: "SharedPage" });
const MadeSharedPage = z
  .object({
    ...page,
    url: z.string().meta({
      description:
        "Its address, shown this once: beside the answer of an `Idempotency-Key` we keep a hash of it alone",
    }),
  })
  .meta({ id: "MadeSharedPage" });

export function sharedPagesRoutes(app: Api, deps: Deps): void {
  const tags = ["Analytics"];
  const writing = { ...deps.links, secrets: deps.secrets };
  const list = {
    operationId: "listSharedPages",
    summary: "List the shared pages of the account",
    description: "Those that were not ended, the newest first. Developer tier.",
    tags,
    response: { 200: z.object({ pages: z.array(SharedPageObject) }), ...apiErrors(401, 402) },
  };
  app.get("/api/v1/shared-pages", { schema: list }, async ({ caller }) => {
    requireDeveloper(caller.tier, "Shared pages");
    const { sharedPages } = opened(await deps.currentAccount(caller.accountId));
    const now = deps.clock();
    return { pages: [...sharedPages.values()].reverse().map((one) => answerOf(one, now)) };
  });

  const make = {
    operationId: "makeSharedPage",
    summary: "Make a page of numbers to share",
    description:
      "Whoever has its address sees these numbers, without signing in, and nothing beyond them. Developer tier.",
    tags,
    body: NewSharedPage,
    response: { 201: MadeSharedPage, ...apiErrors(400, 401, 402, 403, 404, 409) },
  };
  app.post("/api/v1/shared-pages", { schema: make }, async (request, reply) => {
    const { caller, body } = request;
    const { timezone: timeZone, ends_at: endsAt, ...asked } = body;
    requireDeveloper(caller.tier, "Shared pages");
    const filters = await acceptFilters(body.filters, (name) => linkKeyOf(deps, caller, name));
    const wanted = { ...asked, filters, timeZone, endsAt };
    const planned = await deps.idempotency.planned(request, async () => planSharedPage(writing, wanted));
    const made = await makeSharedPage(writing, contextOf(request), caller.accountId, wanted, planned);
    return reply.code(201).send({ ...answerOf(made.page, deps.clock()), url: `${deps.baseUrl}${made.path}` });
  });

  const end = {
    operationId: "endSharedPage",
    summary: "End a shared page",
    description: "For good: its address leads nowhere from then on. Any tier.",
    tags,
    params: z.object({ page_id: z.uuid().meta({ examples: ["0195b7e1-3c5d-7a10-8b11-3c5d7e9f1a2b"] }) }),
    response: { 204: z.undefined().describe("Ended"), ...apiErrors(400, 401, 404) },
  };
  app.delete("/api/v1/shared-pages/:page_id", { schema: end }, async (request, reply) => {
    await endSharedPage(writing, contextOf(request), request.caller.accountId, request.params.page_id);
    return reply.code(204).send();
  });
}

function answerOf(shared: SharedPage, now: Date) {
  const { pageId, name, filters, range, from, to, timeZone, cards, passwordId, at, endsAt = null } = shared;
  return {
    page_id: pageId,
    ...{ name, filters, range, from, to, timezone: timeZone, cards },
    has_password: passwordId !== undefined,
    made_at: at,
    ends_at: endsAt,
    is_over: isOver(shared, now),
  };
}
