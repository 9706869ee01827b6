// On the page of a link's stream: whether the operator has blocked the link, and the forms for it. POST /admin/link/...
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../../api/fastify.ts";
import { MOST_REASON } from "../../../commands/accept-text.ts";
import { blockLink, namedLink, unblockLink } from "../../../commands/links/change-link.ts";
import { currentLink, type LinkAddress } from "../../../commands/links/link-stream.ts";
import { linkStream, PREFIX } from "../../../events/streams.ts";
import { confirmed, field, time } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { type Notice, redirectTo } from "../../shell/visit.ts";
import { type ConsoleDeps, operatorContext } from "../guard.ts";
import { orNotice, streamPath } from "../view.ts";

const PATH = "/admin/link";

const link = z.string().min(1).max(500);
export const UnblockForm = z.object({ link });
const reason = z.string().max(1_000).default("");
export const BlockRequest = z.object({ link, reason, legal: z.boolean().default(false) });
const BlockForm = z.object({ link, reason, legal: z.literal("yes").optional() });

export function blockRoutes(app: Api, deps: ConsoleDeps): void {
  app.post(`/link/block`, { schema: { body: BlockForm } }, async (request, reply) => {
    const { link, reason, legal } = request.body;
    const address = namedLink(link, deps.baseHost);
    const blocking = blockLink(deps, operatorContext(request), address, { reason, legal: legal === "yes" });
    return await told(reply, address, blocking, "The link is blocked. Its owner sees the reason.");
  });

  app.post(`/link/unblock`, { schema: { body: UnblockForm } }, async (request, reply) => {
    const address = namedLink(request.body.link, deps.baseHost);
    const unblocking = unblockLink(deps, operatorContext(request), address);
    return await told(reply, address, unblocking, "The link is no longer blocked.");
  });
}

/** Undefined for a stream of another kind. */
export async function blockCard(deps: ConsoleDeps, stream: string): Promise<Html | undefined> {
  if (!stream.startsWith(PREFIX.link)) return undefined;
  const name = stream.slice(PREFIX.link.length);
  const { host, slug } = namedLink(name, deps.baseHost);
  const state = await currentLink(deps.eventStore, host, slug);
  if (state.status === "free") return undefined;
  const named = html`<input type="hidden" name="link" value="${name}">`;
  if (state.block)
    return html`<section class="card card-danger"><h2>Blocked</h2>
<p>Since ${time(state.block.since)}${state.block.legal && ", for a legal reason"}: <span class="break">${state.block.reason}</span></p>
<form method="post" action="${PATH}/unblock">${named}<button class="button">Unblock link</button></form></section>`;
  return html`<section class="card"><h2>Block</h2>
<p class="muted">Visitors get 404, and the owner can't enable, restore or change the link until you unblock it. Clicks are still recorded.</p>
<div>${confirmed(
    "Block link",
    html`<p><strong class="break">${name}</strong> stops at once.</p>`,
    html`<form method="post" action="${PATH}/block" class="stack">${named}
${field({ label: "Reason", name: "reason", required: true, maxlength: MOST_REASON, autocomplete: "off", hint: "The link's owner sees it." })}
<label class="check"><input type="checkbox" name="legal" value="yes"> The law demands it: answer 451 instead of 404</label>
<div><button class="button button-danger">Block link</button></div></form>`,
  )}</div></section>`;
}

/** A refusal is told on the page of the link's stream; other errors have a page of their own. */
async function told(
  reply: FastifyReply,
  { host, slug }: LinkAddress,
  act: ReturnType<typeof blockLink>,
  done: string,
): Promise<FastifyReply> {
  const result = await orNotice(() => act);
  const notice: Notice = "notice" in result ? result.notice : { kind: "done", text: done };
  return redirectTo(reply, streamPath(linkStream(host, slug)), notice);
}
