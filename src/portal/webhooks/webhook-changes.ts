// The forms of one webhook: settings, pause, resume, key rotation, removal, resending failed deliveries.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { rotateWebhookKey } from "../../commands/webhooks/webhook-key.ts";
import {
  changeWebhook,
  pauseWebhook,
  removeWebhook,
  resumeWebhook,
} from "../../commands/webhooks/webhooks.ts";
import { isClientError, isRefused } from "../../runtime/refused.ts";
import { showDelivery } from "../../webhooks/owner-tools/deliveries.ts";
import { recoverSince, resendDelivery } from "../../webhooks/owner-tools/resend-deliveries.ts";
import { deliveryId } from "../../webhooks/queue/queue.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { portalContext, redirectTo } from "../shell/visit.ts";
import { sendDeliveryPage } from "./delivery-page.ts";
import { sendWebhookPage, WebhookParams } from "./webhook-page.ts";
import { deliveryPath, webhookPath } from "./webhook-view.ts";
import { keyCard, WebhookForm } from "./webhooks-page.ts";

const DeliveryParams = z.object({ webhookId: z.uuid(), eventId: z.string().max(200) });

export function webhookChanges(app: Api, deps: PortalDeps): void {
  const preHandler = requireSession;
  const one = { preHandler, schema: { params: WebhookParams } };
  const done = (text: string) => ({ kind: "done", text }) as const;

  const settings = { preHandler, schema: { params: WebhookParams, body: WebhookForm } };
  app.post("/webhooks/:webhookId/settings", settings, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { webhookId } = request.params;
    try {
      const changed = await changeWebhook(deps, portalContext(request), accountId, webhookId, request.body);
      await deps.whenReadable(changed.position);
    } catch (error) {
      if (!isClientError(error) || isRefused(error, "webhook_not_found")) throw error;
      const refused = { refused: error, ...request.body };
      return sendWebhookPage(deps, request, reply, webhookId, { refused });
    }
    return redirectTo(reply, webhookPath(webhookId), done("The settings are saved."));
  });

  app.post("/webhooks/:webhookId/pause", one, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { webhookId } = request.params;
    const { position } = await pauseWebhook(deps, portalContext(request), accountId, webhookId);
    await deps.whenReadable(position);
    return redirectTo(reply, webhookPath(webhookId));
  });

  app.post("/webhooks/:webhookId/resume", one, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { webhookId } = request.params;
    const { position } = await resumeWebhook(deps, portalContext(request), accountId, webhookId);
    await deps.whenReadable(position);
    return redirectTo(reply, webhookPath(webhookId), done("The webhook is active again."));
  });

  app.post("/webhooks/:webhookId/rotate", one, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { webhookId } = request.params;
    const rotated = await rotateWebhookKey(deps, portalContext(request), accountId, webhookId);
    await deps.whenReadable(rotated.position);
    const title = "The new key";
    return sendPage(reply, { title, nav: "Webhooks", body: keyCard(title, rotated) });
  });

  app.post("/webhooks/:webhookId/remove", one, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { position } = await removeWebhook(
      deps,
      portalContext(request),
      accountId,
      request.params.webhookId,
    );
    await deps.whenReadable(position);
    return redirectTo(reply, "/portal/webhooks", done("The webhook is removed."));
  });

  app.post("/webhooks/:webhookId/recover", one, async (request, reply) => {
    const { webhookId } = request.params;
    const sent = await recoverSince(deps, webhookId, new Date(0), signedIn(request).accountId);
    const text = `${sent === 1 ? "1 delivery is" : `${sent} deliveries are`} about to be sent again.`;
    return redirectTo(reply, webhookPath(webhookId), done(text));
  });

  const delivery = { preHandler, schema: { params: DeliveryParams } };
  app.get("/webhooks/:webhookId/deliveries/:eventId", delivery, async (request, reply) => {
    const { webhookId, eventId } = request.params;
    const found = await showDelivery(deps, deliveryId(webhookId, eventId), signedIn(request).accountId);
    return sendDeliveryPage(reply, found);
  });

  app.post("/webhooks/:webhookId/deliveries/:eventId/resend", delivery, async (request, reply) => {
    const { webhookId, eventId } = request.params;
    const sent = await resendDelivery(deps, deliveryId(webhookId, eventId), signedIn(request).accountId);
    return redirectTo(reply, deliveryPath(sent), done("The delivery is about to be sent again."));
  });
}
