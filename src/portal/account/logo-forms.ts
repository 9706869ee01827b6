// The logo of the account's QR codes: uploaded on /portal/account as a file of a form, which no other form is, and removed.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { LOGO_MAX_BYTES } from "../../api/qr/logo.ts";
import { changeLogo } from "../../commands/account/brands.ts";
import { Refused } from "../../runtime/refused.ts";
import type { SignInDeps } from "../auth/start-session.ts";
import { formRoute, type ShowAgain } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { card, postButton } from "../shell/parts.ts";
import { errorOf, type RefusedForm } from "../shell/refused-form.ts";

const PATH = "/portal/account";
/** Of what a form has beside the file. */
const FRAME_BYTES = 4_096;

const LogoForm = z.object({ logo: z.instanceof(Uint8Array).optional() });

/** `again`: shows the account's page with what was refused. */
export function logoForms(app: Api, deps: SignInDeps, again: ShowAgain): void {
  app.register(async (scope: Api) => {
    scope.addContentTypeParser(
      "multipart/form-data",
      { parseAs: "buffer", bodyLimit: LOGO_MAX_BYTES + FRAME_BYTES },
      async ({ headers }: { headers: { "content-type"?: string | undefined } }, body: string | Buffer) =>
        await uploaded(headers["content-type"] ?? "", Buffer.from(body)),
    );
    formRoute(scope, deps, "/account/logo", {
      path: PATH,
      again,
      bodyLimit: LOGO_MAX_BYTES + FRAME_BYTES,
      schema: { body: LogoForm },
      run: async ({ session: { accountId }, context, body: { logo } }) => {
        if (logo === undefined || logo.length === 0)
          throw new Refused("invalid_logo", "Choose a PNG image first");
        const made = await deps.makeLogo(logo);
        if ("problem" in made) throw new Refused("invalid_logo", made.problem);
        const { position } = await changeLogo(deps, context, accountId, made.image);
        return { position, to: PATH, notice: "Your logo is set: it is in the middle of your QR codes." };
      },
    });
  });

  formRoute(app, deps, "/account/logo/remove", {
    path: PATH,
    run: async ({ session: { accountId }, context }) => {
      const { position } = await changeLogo(deps, context, accountId, null);
      return { position, to: PATH, notice: "Your logo is removed." };
    },
  });
}

/** By the parser of Node's own fetch. @throws invalid_logo */
async function uploaded(contentType: string, body: Buffer): Promise<z.input<typeof LogoForm>> {
  const answer = new Response(new Uint8Array(body), { headers: { "content-type": contentType } });
  const form = await answer.formData().catch(() => {
    throw new Refused("invalid_logo", "This form could not be read");
  });
  const file = form.get("logo");
  return file instanceof Blob ? { logo: new Uint8Array(await file.arrayBuffer()) } : {};
}

/** `image`: PNG in base64. */
export function logoCard(image: string | null, refused: RefusedForm | undefined): Html {
  const error = errorOf(refused, "logo");
  const current =
    image !== null &&
    html`<p class="actions"><img class="logo" src="data:image/png;base64,${image}" alt="Your logo" width="64" height="64">${postButton("/portal/account/logo/remove", html`${icon("trash")}Remove`, { label: "Remove the logo" })}</p>`;
  const form = html`<form method="post" action="/portal/account/logo" enctype="multipart/form-data" class="form"><div class="field"><label for="logo">PNG image</label>
<input id="logo" name="logo" type="file" accept="image/png" required aria-describedby="logo-hint${error && " logo-error"}" ${error && html`aria-invalid="true"`}>
<p class="hint" id="logo-hint">At most ${LOGO_MAX_BYTES / 1024} KB. A square without small print scans best.</p>
${error && html`<p class="error" id="logo-error">${icon("alert")}${error}</p>`}</div>
<div><button class="button">${image === null ? "Upload" : "Replace"}</button></div></form>`;
  return card("Logo", html`${current}${form}`, { lead: "In the middle of the QR codes of your links." });
}
