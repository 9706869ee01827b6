// /portal/webhooks/{id}: one webhook with settings, test tool and delivery log.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { changeWebhook } from "../../commands/webhooks/change-webhook.ts";
import { removeWebhook } from "../../commands/webhooks/remove-webhook.ts";
import { rotateWebhookKey } from "../../commands/webhooks/rotate-webhook-key.ts";
import { pauseWebhook, resumeWebhook } from "../../commands/webhooks/webhook-pause.ts";
import { TIER_LIMITS } from "../../events/vocabulary.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { showWebhook } from "../../queries/webhooks.ts";
import { listDeliveries } from "../../webhooks/owner-tools/deliveries.ts";
import { type TestedWebhook, testWebhook } from "../../webhooks/owner-tools/test-webhook.ts";
import { DELIVERY_STATES } from "../../webhooks/queue/queue.ts";
import { countForAccount } from "../auth/throttle.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { keptForm, type RefusedForm } from "../shell/error-page.ts";
import { confirmed, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { noticeBox, sendPage } from "../shell/page.ts";
import { card, pageHead, postButton } from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { portalContext, redirectTo } from "../shell/visit.ts";
import { logCard, pretty, preview } from "./deliveries.ts";
import {
  refusal,
  sendKey,
  settingsForm,
  typedSettings,
  WebhookForm,
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
  cursor: z.string().max(500).optional(),
});

/** `tested`: result of the test tool. `refused`: settings that were refused, and why. */
type Shown = z.infer<typeof Query> & { tested?: TestedWebhook; refused?: RefusedForm };

/** What is offered as a button; `done`: the notice after it, where the page itself does not say it. */
const CHANGES = {
  pause: { command: pauseWebhook, done: undefined },
  resume: { command: resumeWebhook, done: "The webhook is active again." },
  remove: { command: removeWebhook, done: "The webhook is removed." },
};

export function webhookPage(app: Api, deps: PortalDeps): void {
  const preHandler = requireSession;
  const one = { preHandler, schema: { params: Params } };
  app.get(
    "/webhooks/:webhookId",
    { preHandler, schema: { params: Params, querystring: Query } },
    (request, reply) => sendWebhook(deps, reply, request.params.webhookId, request.query),
  );

  app.post("/webhooks/:webhookId/test", one, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { webhookId } = request.params;
    await showWebhook(deps, webhookId, accountId);
    await countForAccount(deps, accountId, "webhook-test", TESTS_AN_HOUR);
    const tested = await testWebhook(deps, webhookId, accountId);
    return sendWebhook(deps, reply, webhookId, { tested });
  });

  const kept = keptForm({
    show: (refused, request, reply) =>
      sendWebhook(deps, reply, (request.params as z.infer<typeof Params>).webhookId, { refused }),
    path: (request) => webhookPath((request.params as z.infer<typeof Params>).webhookId),
  });
  const settings = { ...kept, schema: { params: Params, body: WebhookForm } };
  app.post("/webhooks/:webhookId/settings", settings, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { webhookId } = request.params;
    const changed = await changeWebhook(deps, portalContext(request), accountId, webhookId, request.body);
    await deps.whenReadable(changed.position);
    return redirectTo(reply, webhookPath(webhookId), { kind: "done", text: "The settings are saved." });
  });

  for (const [name, { command, done }] of Object.entries(CHANGES))
    app.post(`/webhooks/:webhookId/${name}`, one, async (request, reply) => {
      const { webhookId } = request.params;
      const { position } = await command(
        deps,
        portalContext(request),
        signedIn(request).accountId,
        webhookId,
      );
      await deps.whenReadable(position);
      const path = name === "remove" ? "/portal/webhooks" : webhookPath(webhookId);
      return redirectTo(reply, path, done ? { kind: "done", text: done } : undefined);
    });

  app.post("/webhooks/:webhookId/rotate", one, async (request, reply) => {
    const { accountId } = signedIn(request);
    const rotated = await rotateWebhookKey(deps, portalContext(request), accountId, request.params.webhookId);
    await deps.whenReadable(rotated.position);
    return sendKey(reply, "The new key", rotated);
  });
}

/** @throws NotFound also for another account's webhook */
async function sendWebhook(
  deps: PortalDeps,
  reply: FastifyReply,
  webhookId: string,
  { state, cursor, tested, refused }: Shown,
): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(reply.request);
  const webhook = await showWebhook(deps, webhookId, accountId);
  const log = await listDeliveries(deps, webhookId, { state, cursor, limit: ON_A_PAGE }, accountId);
  return sendPage(reply, {
    title: webhookName(webhook),
    nav: "Webhooks",
    styles: ["charts.css"],
    scripts: ["console.js"],
    ...refusal(refused),
    body: html`${head(webhook)}
${!TIER_LIMITS[tier].developerFeatures && noticeBox({ kind: "info", text: ON_FREE })}
${webhook.status === "paused" && noticeBox({ kind: "failed", text: whyPaused(webhook) })}
${testCard(webhookId, tested)}
${logCard(webhookPath(webhookId), log, { state, cursor })}
${settingsCard(webhook, deps.clock().toISOString(), refused)}`,
  });
}

function head(webhook: WebhookDocument): Html {
  const path = (below: string) => webhookPath(webhook._id, below);
  const newKey = html`<p>The key that ends in <code>${webhook.keyHint}</code> is replaced: <code>X-API-Key</code> carries the new one at once. Signatures are made with both for 24 hours.</p>`;
  const removed = html`<p>Nothing more is sent, what still waits is cancelled, and the key is destroyed. This can't be undone.</p>`;
  return pageHead(html`${webhookName(webhook)} ${webhookBadge(webhook)}`, {
    above: html`<a href="/portal/webhooks">Webhooks</a>`,
    lead: html`<span class="break">${webhook.url}</span>`,
    actions: html`${
      webhook.status === "paused"
        ? postButton(path("/resume"), "Resume", { kind: "primary" })
        : postButton(path("/pause"), "Pause")
    }
${confirmed("New key", newKey, postButton(path("/rotate"), "Make a new key", { kind: "danger" }))}
${confirmed("Remove", removed, postButton(path("/remove"), "Remove webhook", { kind: "danger" }))}`,
  });
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

function testCard(webhookId: string, tested: TestedWebhook | undefined): Html {
  return card("Try it out", tested && testResult(tested), {
    id: "test",
    lead: html`Sends a signed sample of <code>link.clicked</code> now, and shows what your server answers. It does not appear among the deliveries below.`,
    actions: postButton(webhookPath(webhookId, "/test"), html`${icon("send")}Send a test`),
  });
}

function testResult({ request, answer }: TestedWebhook): Html {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const verdict = answer.error
    ? ({ kind: "failed", text: `Not delivered: ${answer.error.message}` } as const)
    : ({
        kind: "done",
        text: `Delivered: your server answered ${answer.status} in ${answer.durationMs} ms.`,
      } as const);
  const sent = `${request.method} ${request.url}\n${headers.join("\n")}\n\n${pretty(request.body)}`;
  const got = `${answer.status === null ? "None" : `Status ${answer.status}`}\n\n${pretty(answer.answer)}`;
  return html`${noticeBox(verdict)}
<div class="grid"><div class="stack"><h3>Request</h3>${preview("Request", sent)}</div>
<div class="stack"><h3>Answer</h3>${preview("Answer", got)}</div></div>`;
}

function settingsCard(webhook: WebhookDocument, now: string, refused: RefusedForm | undefined): Html {
  const { _id, addedAt, previousKeyUntil, keyHint } = webhook;
  const given = refused ? typedSettings(refused) : webhook;
  const body = html`${settingsForm(webhookPath(_id, "/settings"), given, "Save")}
<dl class="facts"><dt>Added</dt><dd>${time(addedAt)}</dd><dt>Key</dt><dd><code>whk_…${keyHint}</code></dd>
${previousKeyUntil !== null && previousKeyUntil > now && html`<dt>Key before</dt><dd>signs along until ${time(previousKeyUntil)}</dd>`}</dl>`;
  return card("Settings", body, { id: "settings" });
}
