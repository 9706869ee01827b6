// linkledger webhook test | deliveries | delivery | resend | recover | replay
import { type Command, InvalidArgumentError, Option } from "commander";
import { MOMENT_EXAMPLE, parseMoment } from "../runtime/moment.ts";
import { deliverySender } from "../webhooks/delivery/delivery-sender.ts";
import { listDeliveries, showDelivery } from "../webhooks/owner-tools/deliveries.ts";
import { replayFrom } from "../webhooks/owner-tools/replay-webhook.ts";
import { recoverSince, resendDelivery } from "../webhooks/owner-tools/resend-deliveries.ts";
import { testWebhook } from "../webhooks/owner-tools/test-webhook.ts";
import { DELIVERY_STATES, type Delivery, type DeliveryState } from "../webhooks/queue/queue.ts";
import { receiverResolver } from "../webhooks/receiver/resolve-receiver.ts";
import { type Json, runCommand, runQuery, type Session } from "./session.ts";

type Page = Json & { state?: DeliveryState; limit: number; cursor?: string };

const SINCE = "ISO 8601, or how long ago, such as 90m, 24h or 7d";

export function webhookDeliveryCommands(webhook: Command): void {
  webhook
    .command("test")
    .description("send a signed sample of link.clicked now, and show request and answer")
    .argument("<webhook-id>")
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Json) =>
      runCommand(options, async (session) => {
        const tested = await test(session, webhookId);
        if (!tested.delivered) process.exitCode = 1;
        return tested;
      }),
    );

  webhook
    .command("deliveries")
    .description("the deliveries of a webhook, newest first, kept for 30 days")
    .argument("<webhook-id>")
    .addOption(new Option("--state <state>", "only those").choices(DELIVERY_STATES))
    .option("--limit <number>", "1 to 100", pageSize, 50)
    .option("--cursor <cursor>", "next_cursor of the page before")
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Page) =>
      runQuery(options, async ({ deps }) => {
        const { deliveries, next_cursor } = await listDeliveries(deps, webhookId, options);
        return { deliveries: deliveries.map(deliveryRow), next_cursor };
      }),
    );

  webhook
    .command("delivery")
    .description("one delivery with its body and every attempt")
    .argument("<delivery-id>")
    .option("--json", "print one JSON document")
    .action((deliveryId: string, options: Json) =>
      runQuery(options, async ({ deps }) => {
        const found = await showDelivery(deps, deliveryId);
        const attempts = found.log.map((attempt) => ({ ...attemptRow(attempt), answer: attempt.answer }));
        return { ...deliveryRow(found), body: found.body, attempts };
      }),
    );

  webhook
    .command("resend")
    .description("send one delivery again, with its schedule from the start")
    .argument("<delivery-id>")
    .option("--json", "print one JSON document")
    .action((deliveryId: string, options: Json) =>
      runCommand(options, async ({ deps }) => deliveryRow(await resendDelivery(deps, deliveryId))),
    );

  webhook
    .command("recover")
    .description("send everything again that failed since a time")
    .argument("<webhook-id>")
    .requiredOption("--since <time>", SINCE, timeOf)
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Json & { since: Date }) =>
      runCommand(options, async ({ deps }) => {
        const recovered = await recoverSince(deps, webhookId, options.since);
        return { webhook_id: webhookId, since: options.since.toISOString(), recovered };
      }),
    );

  webhook
    .command("replay")
    .description("send clicks since a time, 30 days at most, that a webhook has no delivery for")
    .argument("<webhook-id>")
    .requiredOption("--since <time>", SINCE, timeOf)
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Json & { since: Date }) =>
      runCommand(options, async ({ deps }) => {
        const replayed = await replayFrom(deps, webhookId, options.since);
        return { webhook_id: webhookId, ...replayed };
      }),
    );
}

async function test({ config, deps }: Session, webhookId: string) {
  const sender = deliverySender({
    allowPrivate: config.webhookAllowPrivate,
    resolve: receiverResolver(config.dnsServers),
    now: () => deps.clock().getTime(),
  });
  try {
    const { request, answer } = await testWebhook({ ...deps, sender }, webhookId);
    const { at, durationMs, status, error } = answer;
    const delivered = error === null;
    const answered = { at, duration_ms: durationMs, status, error, body: answer.answer };
    return { webhook_id: webhookId, delivered, request, answer: answered };
  } finally {
    await sender.destroy();
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

function attemptRow({ at, durationMs, status, error, nextTryAt }: NonNullable<Delivery["lastAttempt"]>) {
  return { at, duration_ms: durationMs, status, error, next_try_at: nextTryAt };
}

function pageSize(given: string): number {
  const limit = Number(given);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 100) return limit;
  throw new InvalidArgumentError("It must be 1 to 100.");
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function timeOf(given: string): Date {
  const ago = /^(\d{1,6})([smhd])$/.exec(given);
  const time = ago
    ? new Date(Date.now() - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS])
    : parseMoment(given);
  if (time) return time;
  throw new InvalidArgumentError(`It must be ${MOMENT_EXAMPLE}, or 90m, 24h, 7d.`);
}
