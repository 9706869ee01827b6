// GET /portal/links/<host>/<slug>/proof.ndjson: the proof of a link for its owner to keep; /portal/proof checks such a file.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { type ExportVerification, verifyExport } from "../../audit/export/verify-export.ts";
import { isRefused, Refused } from "../../commands/refusals.ts";
import { CONTENT_TYPES, sendExport } from "../../limits/exports.ts";
import type { OpenStreams } from "../../limits/open-streams.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { timeSlices } from "../../runtime/threads/time-slices.ts";
import { LinkParams } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countRead } from "../shell/change-limit.ts";
import { field } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { card, copyable, pageHead } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { errorOf, noticeOf, type RefusedForm, typedText } from "../shell/refused-form.ts";
import { signedIn } from "../shell/sessions.ts";

const PATH = "/portal/proof";
/** Of the form: each quote of the file is three bytes in it. */
const FORM_BYTES = 4_194_304;

export function proofPages(app: Api, deps: PortalDeps & { exports: OpenStreams }): void {
  const download = { schema: { params: LinkParams }, exposeHeadRoute: false };
  app.get("/links/:host/:slug/proof.ndjson", download, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { host, slug } = request.params;
    const { link } = await linkHistory(deps, accountId, host, slug);
    await countRead(deps, signedIn(request));
    const file = { type: CONTENT_TYPES.ndjson, name: `proof-${link.slug}.ndjson` };
    return sendExport(reply, deps.exports, accountId, file, (signal) =>
      deps.logReader.exportProof(link._id, signal),
    );
  });

  app.get("/proof", (_, reply) => sendProof(deps, reply, ""));

  formRoute(app, deps, "/proof", {
    schema: { body: z.object({ proof: z.string().default("") }) },
    bodyLimit: FORM_BYTES,
    async run({ reply, body: { proof } }) {
      const verification = await verifyExport(linesOf(proof), deps.sealKeys, { isOfLink: true }).catch(
        (error: unknown) => {
          if (!isRefused(error, "bad_export")) throw error;
          throw new Refused("invalid_request", error.message, { field: "proof" });
        },
      );
      return { to: () => sendProof(deps, reply, proof, verification) };
    },
    again: (reply, refused) => sendProof(deps, reply, typedText(refused.typed, "proof"), undefined, refused),
  });
}

/** A form sends each end of a line as two characters. In slices: each may hold a signature, and visitors wait meanwhile. */
async function* linesOf(text: string): AsyncGenerator<string> {
  const slices = timeSlices();
  for (const line of text.trimEnd().split(/\r?\n/)) {
    await slices.next();
    yield line;
  }
}

function sendProof(
  { sealKeys }: PortalDeps,
  reply: FastifyReply,
  proof: string,
  verification?: ExportVerification,
  refused?: RefusedForm,
): FastifyReply {
  const verdict =
    verification &&
    card(
      html`${verification.ok ? "Proved" : "Not proved"}: <span class="break">${verification.selection.link}</span>`,
      html`<p class="break" role="status">${verification.sentence}</p>${verification.problems.length > 0 && html`<ul class="stack">${verification.problems.map(({ stream, revision, message }) => html`<li class="break">${stream} ${revision}: ${message}</li>`)}</ul>`}`,
    );
  return sendPage(reply, {
    title: "Check a proof",
    nav: "Links",
    status: refused?.status,
    notice: refused && noticeOf(refused, "proof"),
    body: html`${pageHead("Check a proof", { lead: "A link's proof holds its events as they were written, and the seals that cover them. Each link has one, below “What proves this?”." })}
${verdict}
<section class="card"><form class="form" method="post" action="${PATH}">${field({
      label: "The file",
      name: "proof",
      value: proof,
      error: errorOf(refused, "proof"),
      rows: 10,
      required: true,
      isExact: true,
    })}
<div class="actions"><button class="button button-primary">Check</button><label class="button" hidden>Open a file<input type="file" class="visually-hidden" accept=".ndjson" data-into="field-proof"></label></div></form></section>
${card("Without us", html`<p><code>examples/verify-export.py</code> of the source code checks the same, with Python and this public key, wherever you keep the file:</p>${copyable("public-key", sealKeys[0] ?? "", "the public key")}`)}`,
  });
}
