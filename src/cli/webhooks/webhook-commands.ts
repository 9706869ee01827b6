// linkledger webhook add | change | list | ... | remove, and what it was sent: test | deliveries | ... | listen
import { InvalidArgumentError, Option } from "commander";
import {
  addWebhook,
  changeWebhook,
  pauseWebhook,
  removeWebhook,
  resumeWebhook,
} from "../../commands/webhooks/change-webhooks.ts";
import { rotateWebhookKey } from "../../commands/webhooks/webhook-key.ts";
import { commaSeparated } from "../../config/formats.ts";
import { CLICK_KINDS, CREATED_VIA, WEBHOOK_DEFAULT_KINDS } from "../../events/vocabulary.ts";
import { WEBHOOK_EVENTS, type WebhookEventName } from "../../events/webhook-selection.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { listWebhooks, showWebhook, webhookRow } from "../../queries/webhooks.ts";
import { MOMENT_EXAMPLE, parseMoment } from "../../runtime/moment.ts";
import { deliverySender } from "../../webhooks/delivery/send-delivery.ts";
import {
  listDeliveries,
  recoverSince,
  resendDelivery,
  showDelivery,
} from "../../webhooks/owner-tools/deliveries.ts";
import { replayFrom } from "../../webhooks/owner-tools/replay-webhook.ts";
import { restingReceiver } from "../../webhooks/owner-tools/resting-receiver.ts";
import { testWebhook } from "../../webhooks/owner-tools/test-webhook.ts";
import { DELIVERY_STATES, type Delivery, type DeliveryState } from "../../webhooks/queue/queue.ts";
import { receiverResolver } from "../../webhooks/receiver/resolve-receiver.ts";
import { type CommandRow, option, required } from "../command.ts";
import { WEBHOOK } from "../named.ts";
import { asQuery, type Session } from "../session.ts";
import { listenCommand } from "./listen.ts";

type Since = { since: Date };
type Page = { state?: DeliveryState; event?: WebhookEventName; limit: number; cursor?: string };
type Settings = {
  url?: string;
  events?: string[];
  kinds?: string[];
  via?: string[];
  domains?: string[];
  tags?: string[];
  label?: string;
};

const EVENTS = `what it is told of, comma separated, of ${WEBHOOK_EVENTS.join(",")}`;
const KINDS = `kinds of hit it is sent, comma separated, of ${CLICK_KINDS.join(",")}`;
const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const args = { webhook: WEBHOOK, delivery: "id" };
const since = required("--since <time>", "ISO 8601, or how long ago, such as 90m, 24h or 7d", timeOf);
const label = option("--label <label>", "to tell webhooks apart");
const chosenLinks = [
  option(
    "--via <list>",
    `only of links that were created this way, comma separated, of ${CREATED_VIA.join(",")}; api by default`,
    commaSeparated,
  ),
  option("--domains <list>", 'only of links on these domains, comma separated; "" for all', commaSeparated),
  option(
    "--tags <list>",
    'only of links with one of these tags, comma separated; "" for all',
    commaSeparated,
  ),
];

export const commands: readonly CommandRow[] = [
  {
    name: "add",
    about: "add a webhook; its key is shown this once only",
    byAccount: true,
    options: [
      required("--url <url>", "where it is sent"),
      option("--events <list>", `${EVENTS}; link.clicked by default`, commaSeparated),
      option("--kinds <list>", `${KINDS}; ${WEBHOOK_DEFAULT_KINDS.join(",")} by default`, commaSeparated),
      ...chosenLinks,
      label,
    ],
    async run({ deps, context }, options: Settings & { account: string; url: string }) {
      const { account, ...settings } = options;
      const { webhookId, key } = await addWebhook(deps, context, account, settings);
      return { webhook_id: webhookId, key };
    },
  },
  {
    name: "change <webhook>",
    about: "change a webhook's settings; what is not given stays",
    args,
    options: [
      option("--url <url>", "where it is sent"),
      option("--events <list>", EVENTS, commaSeparated),
      option("--kinds <list>", KINDS, commaSeparated),
      ...chosenLinks,
      label,
    ],
    async run({ deps, context }, settings: Settings, { _id, accountId }: WebhookDocument) {
      const changed = await changeWebhook(deps, context, accountId, _id, settings);
      const { url, events, kinds, via, domains, tags, label } = changed;
      return { webhook_id: _id, url, events, kinds, via, domains, tags, label };
    },
  },
  {
    name: "list",
    about: "the webhooks of an account",
    byAccount: true,
    by: asQuery,
    async run({ deps }, { account }: { account: string }) {
      return { webhooks: (await listWebhooks(deps, account)).map(webhookRow) };
    },
    print: ({ webhooks }: { webhooks: ReturnType<typeof webhookRow>[] }) => ({
      webhooks: webhooks.map(forPeople),
    }),
  },
  {
    name: "show <webhook>",
    about: "one webhook with its settings and state",
    args,
    by: asQuery,
    async run({ deps }, _: object, { _id }: WebhookDocument) {
      const webhook = await showWebhook(deps, _id);
      return { ...webhookRow(webhook), resting: (await restingReceiver(deps, webhook)) ?? null };
    },
    print: (shown: ReturnType<typeof webhookRow>) => forPeople(shown),
  },
  {
    ...changing("pause", "send nothing more to a webhook until it is resumed", "paused", pauseWebhook),
    options: [option("--reason <text>", "why, as its owner will read it")],
  },
  changing("resume", "send to a paused webhook again", "active", resumeWebhook),
  {
    name: "rotate <webhook>",
    about: "give a webhook a new key, shown this once; the old one signs along for 24 hours",
    args,
    async run({ deps, context }, _: object, { _id, accountId }: WebhookDocument) {
      const rotated = await rotateWebhookKey(deps, context, accountId, _id);
      const { key, publicKey, previousUntil } = rotated;
      return { webhook_id: _id, key, public_key: publicKey, previous_key_until: previousUntil };
    },
  },
  changing("remove", "remove a webhook and destroy its key", "removed", removeWebhook),
  {
    name: "test <webhook>",
    about: "send a signed sample now, and show request and answer",
    args,
    run: test,
    exitCode: ({ delivered }: { delivered: boolean }) => (delivered ? 0 : 1),
  },
  {
    name: "deliveries <webhook>",
    about: "the deliveries of a webhook, newest first, kept for 30 days",
    args,
    options: [
      new Option("--state <state>", "only those").choices(DELIVERY_STATES),
      new Option("--event <event>", "only of this event").choices(WEBHOOK_EVENTS),
      option("--limit <number>", "1 to 100", pageSize).default(50),
      option("--cursor <cursor>", "next_cursor of the page before"),
    ],
    by: asQuery,
    async run({ deps }, page: Page, { _id }: WebhookDocument) {
      const { deliveries, next_cursor } = await listDeliveries(deps, _id, page);
      return { deliveries: deliveries.map(deliveryRow), next_cursor };
    },
    print: ({ deliveries, ...rest }: { deliveries: ReturnType<typeof deliveryRow>[] }) => ({
      // What fits in a line.
      deliveries: deliveries.map(({ webhook_id: _, event_id: __, finished_at: ___, ...row }) => ({
        ...row,
        last_attempt: row.last_attempt?.status ?? row.last_attempt?.error,
      })),
      ...rest,
    }),
  },
  {
    name: "delivery <delivery>",
    about: "one delivery with its body and every attempt",
    args,
    by: asQuery,
    async run({ deps }, _: object, deliveryId: string) {
      const delivery = await showDelivery(deps, deliveryId);
      const attempts = delivery.log.map((attempt) => ({ ...attemptRow(attempt), answer: attempt.answer }));
      return { ...deliveryRow(delivery), body: delivery.body, attempts };
    },
  },
  {
    name: "resend <delivery>",
    about: "send one delivery again, with its schedule from the start",
    args,
    run: async ({ deps }, _: object, deliveryId: string) =>
      deliveryRow(await resendDelivery(deps, deliveryId)),
  },
  {
    name: "recover <webhook>",
    about: "send everything again that failed since a time",
    args,
    options: [since],
    async run({ deps }, { since }: Since, { _id }: WebhookDocument) {
      const recovered = await recoverSince(deps, _id, since);
      return { webhook_id: _id, since: since.toISOString(), recovered };
    },
  },
  {
    name: "replay <webhook>",
    about: "send what happened since a time, 30 days at most, that a webhook has no delivery for",
    args,
    options: [since],
    async run({ deps }, { since }: Since, { _id }: WebhookDocument) {
      return { webhook_id: _id, ...(await replayFrom(deps, _id, since)) };
    },
  },
  listenCommand,
];

type Change = (
  deps: Session["deps"],
  context: Session["context"],
  accountId: string,
  webhookId: string,
  options: { reason?: string },
) => Promise<unknown>;

function changing(name: string, about: string, status: string, change: Change): CommandRow {
  return {
    name: `${name} <webhook>`,
    about,
    args,
    async run({ deps, context }, options: { reason?: string }, { _id, accountId }: WebhookDocument) {
      await change(deps, context, accountId, _id, options);
      return { webhook_id: _id, status };
    },
  };
}

async function test({ config, deps }: Session, _: object, { _id }: WebhookDocument) {
  const sender = deliverySender({
    allowPrivate: config.webhookAllowPrivate,
    resolve: receiverResolver(config.dnsServers),
    now: () => deps.clock().getTime(),
  });
  try {
    const { request, answer } = await testWebhook({ ...deps, sender }, _id);
    const { at, durationMs, status, error } = answer;
    const answered = { at, duration_ms: durationMs, status, error, body: answer.answer };
    return { webhook_id: _id, delivered: error === null, request, answer: answered };
  } finally {
    sender.destroy();
  }
}

function deliveryRow(delivery: Delivery) {
  return {
    delivery_id: delivery.id,
    webhook_id: delivery.webhookId,
    /** Sent as `webhook-id`. */
    event_id: delivery.eventId,
    event: delivery.event,
    state: delivery.state,
    created_at: delivery.createdAt,
    due_at: delivery.dueAt,
    finished_at: delivery.finishedAt,
    tries: delivery.tries,
    last_attempt: delivery.lastAttempt && attemptRow(delivery.lastAttempt),
  };
}

/** No domain and no tag chosen are all of them. */
function forPeople<W extends { domains: string[]; tags: string[] }>({ domains, tags, ...webhook }: W) {
  const orAll = (names: string[]) => (names.length === 0 ? "all" : names);
  return { ...webhook, domains: orAll(domains), tags: orAll(tags) };
}

function attemptRow({ at, durationMs, status, error, nextTryAt }: NonNullable<Delivery["lastAttempt"]>) {
  return { at, duration_ms: durationMs, status, error, next_try_at: nextTryAt };
}

function pageSize(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 100) return limit;
  throw new InvalidArgumentError("It must be 1 to 100.");
}

function timeOf(text: string): Date {
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  const time = ago
    ? new Date(Date.now() - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS])
    : parseMoment(text);
  if (time) return time;
  throw new InvalidArgumentError(`It must be ${MOMENT_EXAMPLE}, or 90m, 24h, 7d.`);
}
