// /mails/stop/{token}: stops a weekly mail for whoever has one, without signing in: by a button, or at once by a mail program
// that sends the form of RFC 8058. To open the address alone stops nothing, as scanners of mail open all of them.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { isRefused } from "../../commands/refusals.ts";
import { stopByMail } from "../../commands/sharing/weekly-mails.ts";
import { byAddress, countTry } from "../../limits/rate-limit.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type HtmlValue, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";

const PATH = "/mails/stop/:token";
const TRIES_PER_HOUR = 100;
const FORM_BYTES = 4_096;

/** `app`: of its own, as it takes a form that is no other page's. */
export function stopMailPage(app: Api, deps: PortalDeps): void {
  const schema = { params: z.object({ token: z.string().max(200) }) };
  const routed = { schema, config: { isForStrangers: true } };
  // What RFC 8058 has senders prefer; the form says nothing that the address doesn't.
  app.addContentTypeParser("multipart/form-data", { parseAs: "buffer" }, (_, _body, done) => done(null, {}));

  const signedMail = async ({ ip, params }: FastifyRequest) => {
    const mail = deps.stopLinks.read((params as { token: string }).token);
    // Those that we have signed by mail: a provider sends the forms of all its customers from few addresses.
    const subject = mail ? `stop-mail ${mail.mailId}` : byAddress("stop-mail", ip);
    await countTry(deps, subject, TRIES_PER_HOUR);
    const account = mail && (await deps.links.currentAccount(mail.accountId));
    const running = account?.status === "open" ? account.weeklyMails.get(mail?.mailId ?? "") : undefined;
    return mail && { mail, running };
  };

  app.get(PATH, routed, async (request, reply) => {
    const signed = await signedMail(request);
    if (!signed) return sendUnknown(reply);
    if (!signed.running) return sendStopped(reply);
    return send(
      reply,
      200,
      "Stop this mail?",
      html`<p>“${signed.running.name}” comes every Monday.</p><form method="post"><button class="button button-primary">Stop it</button></form>`,
    );
  });

  app.post(PATH, { ...routed, bodyLimit: FORM_BYTES }, async (request, reply) => {
    const signed = await signedMail(request);
    if (!signed) return sendUnknown(reply);
    const { accountId, mailId } = signed.mail;
    const context = { requestId: request.id, actor: { type: "system", id: "weekly-mail" } } as const;
    if (signed.running)
      await stopByMail(deps, context, accountId, mailId).catch((error: unknown) => {
        // Somebody else has in this moment.
        if (!isRefused(error, "weekly_mail_not_found", "account_not_found")) throw error;
      });
    return sendStopped(reply);
  });
}

function sendUnknown(reply: FastifyReply): FastifyReply {
  const body = html`<p>Open it from the mail once more.</p>`;
  return send(reply, 404, "This address is not quite right", body);
}

function sendStopped(reply: FastifyReply): FastifyReply {
  return send(reply, 200, "This mail is stopped", html`<p>None will come any more.</p>`);
}

function send(reply: FastifyReply, status: number, title: string, body: HtmlValue): FastifyReply {
  return sendPage(reply, {
    title,
    shape: "narrow",
    status,
    body: html`<div class="card empty"><h1>${title}</h1>${body}</div>`,
  });
}
