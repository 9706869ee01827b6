// /portal/webhooks/{id}: one webhook with settings, test tool and delivery log.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import {
  changeWebhook,
  pauseWebhook,
  removeWebhook,
  resumeWebhook,
} from "../../commands/webhooks/change-webhooks.ts";
import { rotateWebhookKey } from "../../commands/webhooks/webhook-key.ts";
import { hasDeveloperFeatures } from "../../events/vocabulary.ts";
import { LINK_CLICKED, WEBHOOK_EVENTS } from "../../events/webhook-selection.ts";
import { countTry } from "../../limits/rate-limit.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { showWebhook } from "../../queries/webhooks.ts";
import { listDeliveries } from "../../webhooks/owner-tools/deliveries.ts";
import { type Resting, restingReceiver } from "../../webhooks/owner-tools/resting-receiver.ts";
import { type TestedWebhook, testWebhook } from "../../webhooks/owner-tools/test-webhook.ts";
import { DELIVERY_STATES } from "../../webhooks/queue/queue.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { schemaOf } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { confirmedPost, copyable, postButton, time } from "../shell/layout.ts";
import { noticeBox, sendPage } from "../shell/page.ts";
import type { RefusedForm } from "../shell/refused-form.ts";
import { signedIn } from "../shell/sessions.ts";
import { logCard, pretty, preview } from "./deliveries.ts";
import {
  failingBadge,
  recentFailures,
  sendKey,
  WEBHOOK_FIELDS,
  webhookBadge,
  webhookName,
  webhookPath,
} from "./webhooks-page.ts";

const TESTS_AN_HOUR = 60;
const ON_A_PAGE = 25;
const ON_FREE =
  "Nothing is sent on the Free plan: webhooks are part of the Developer plan. You can pause this one, give it a new key, or remove it.";

const Params = z.object({ webhookId: z.uuid() });
const Query = z.object({
  state: z.enum(DELIVERY_STATES).optional().catch(undefined),
  event: z.enum(WEBHOOK_EVENTS).optional().catch(undefined),
  cursor: z.string().max(500).optional(),
});

/** `tested`: result of the test tool. `refused`: settings that were refused, and why. */
type Shown = z.infer<typeof Query> & { tested?: TestedWebhook; refused?: RefusedForm };

/** What is offered as a button; `notice`: where the page itself does not say it. */
const CHANGES = {
  pause: { command: pauseWebhook },
  resume: { command: resumeWebhook, notice: "The webhook is active again." },
  remove: { command: removeWebhook, notice: "The webhook is removed." },
};

export function webhookPage(app: Api, deps: PortalDeps): void {
  const page = { schema: { params: Params, querystring: Query } };
  app.get("/webhooks/:webhookId", page, (request, reply) =>
    sendWebhook(deps, reply, request.params.webhookId, request.query),
  );

  const schema = { params: Params };
  const idOf = (request: FastifyRequest) => (request.params as z.infer<typeof Params>).webhookId;
  const path = (request: FastifyRequest) => webhookPath(idOf(request));

  formRoute(app, deps, "/webhooks/:webhookId/test", {
    schema,
    path,
    async run({ session: { accountId }, params: { webhookId }, reply }) {
      await showWebhook(deps, webhookId, accountId);
      await countTry(deps, `webhook-test ${accountId}`, TESTS_AN_HOUR);
      const tested = await testWebhook(deps, webhookId, accountId);
      return { to: () => sendWebhook(deps, reply, webhookId, { tested }) };
    },
  });

  formRoute(app, deps, "/webhooks/:webhookId/settings", {
    schema: { params: Params, body: schemaOf(WEBHOOK_FIELDS) },
    path,
    async run({ session: { accountId }, context, params: { webhookId }, body }) {
      await showWebhook(deps, webhookId, accountId);
      const { position } = await changeWebhook(deps, context, accountId, webhookId, body);
      return { position, notice: "The settings are saved." };
    },
    again: (reply, refused) => sendWebhook(deps, reply, idOf(reply.request), { refused }),
  });

  for (const [name, { command, ...after }] of Object.entries(CHANGES))
    formRoute(app, deps, `/webhooks/:webhookId/${name}`, {
      schema,
      path,
      async run({ session: { accountId }, context, params: { webhookId } }) {
        const { position } = await command(deps, context, accountId, webhookId);
        return { position, ...(name === "remove" && { to: "/portal/webhooks" }), ...after };
      },
    });

  formRoute(app, deps, "/webhooks/:webhookId/rotate", {
    schema,
    path,
    async run({ session: { accountId }, context, params: { webhookId }, reply }) {
      const rotated = await rotateWebhookKey(deps, context, accountId, webhookId);
      return { position: rotated.position, to: () => sendKey(reply, "The new key", rotated) };
    },
  });
}

/** @throws not_found also for another account's webhook */
async function sendWebhook(
  deps: PortalDeps,
  reply: FastifyReply,
  webhookId: string,
  { tested, refused, ...chosen }: Shown,
): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(reply.request);
  const webhook = await showWebhook(deps, webhookId, accountId);
  const log = await listDeliveries(deps, webhookId, { ...chosen, limit: ON_A_PAGE }, accountId);
  const resting = await restingReceiver(deps, webhook);
  const { _id, status, url, keyHint, publicKey, addedAt, previousKeyUntil: until } = webhook;
  const path = (below: string) => webhookPath(_id, below);
  const newKey = html`The key that ends in <code>${keyHint}</code> is replaced: <code>X-API-Key</code> carries the new one at once. Signatures are made with both for 24 hours.`;
  const removed =
    "Nothing more is sent, what still waits is cancelled, and the key is destroyed. This can't be undone.";
  return sendPage(reply, {
    title: webhookName(webhook),
    nav: "Webhooks",
    scripts: ["live.js"],
    heading: html`${webhookName(webhook)} ${webhookBadge(webhook)} ${failingBadge(await recentFailures(deps, webhookId))}`,
    above: html`<a href="/portal/webhooks">Webhooks</a>`,
    lead: html`<span class="break">${url}</span>`,
    actions: [
      status === "paused"
        ? postButton(path("/resume"), "Resume", { kind: "primary" })
        : postButton(path("/pause"), "Pause"),
      confirmedPost("New key", newKey, path("/rotate"), "Make a new key"),
      confirmedPost("Remove", removed, path("/remove"), "Remove webhook"),
    ],
    refused,
    cards: [
      !hasDeveloperFeatures(tier) && noticeBox({ kind: "info", text: ON_FREE }),
      status === "paused" && noticeBox({ kind: "failed", text: whyPaused(webhook) }),
      resting && noticeBox({ kind: "failed", text: whyResting(resting) }),
      {
        title: "Try it out",
        lead: html`Sends a signed sample of <code>${webhook.events[0] ?? LINK_CLICKED}</code> now, and shows what your server answers. It does not appear among the deliveries below.`,
        actions: postButton(path("/test"), html`${icon("send")}Send a test`),
        body: tested && testResult(tested),
      },
      logCard(path(""), log, chosen, webhook.events),
      {
        title: "Settings",
        form: { action: path("/settings"), fields: WEBHOOK_FIELDS, values: webhook, button: "Save" },
      },
      {
        title: "Keys",
        facts: {
          Added: time(addedAt),
          Key: html`<code>whk_…${keyHint}</code>`,
          "Public key": publicKey !== null && copyable("public-key", publicKey, "the public key"),
          "Key before":
            until !== null && until > deps.clock().toISOString() && html`signs along until ${time(until)}`,
        },
      },
    ],
  });
}

/** `who`: whose server. */
export function whyResting({ since, until }: Resting, who = "Your server"): string {
  const at = (time: string) => `${time.slice(0, 16).replace("T", " ")} UTC`;
  return `${who} has failed since ${at(since)}: it rests until about ${at(until)}, then one delivery shows whether it is back. No try is used up meanwhile.`;
}

function whyPaused({ pausedBy, reason, cause, pausedAt }: WebhookDocument): string {
  const since = pausedAt ? ` since ${pausedAt.slice(0, 16).replace("T", " ")} UTC` : "";
  const why = reason ? `: ${reason}` : "";
  if (pausedBy === "operator")
    return `Paused by the operator of this service${since}${why}. Only they can resume it.`;
  if (cause === "key_missing")
    return `Paused${since}${why}, so nothing can be signed. Make a new key below: it then resumes by itself.`;
  if (pausedBy === "system")
    return `Paused${since}, as deliveries went on failing${why}. Mend the receiver, try it below, then resume.`;
  return `Paused${since}${why}. Nothing is sent until you resume it; clicks of the meantime are not made up for.`;
}

function testResult({ request, answer }: TestedWebhook): Html {
  const { error, status, durationMs } = answer;
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const sent = `${request.method} ${request.url}\n${headers.join("\n")}\n\n${pretty(request.body)}`;
  const got = `${status === null ? "None" : `Status ${status}`}\n\n${pretty(answer.answer)}`;
  const delivered = `Delivered: your server answered ${status} in ${durationMs} ms.`;
  const text = error ? `Not delivered: ${error.message}` : delivered;
  return html`${noticeBox({ kind: error ? "failed" : "done", text })}
<div class="grid"><div class="stack"><h3>Request</h3>${preview("Request", sent)}</div>
<div class="stack"><h3>Answer</h3>${preview("Answer", got)}</div></div>`;
}
