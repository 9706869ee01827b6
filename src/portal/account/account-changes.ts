// The forms of /portal/account (what visitors see, time zone, closing), and its export as JSON Lines.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { FORM_FRAME_BYTES, takeUploads } from "../../api/uploads.ts";
import { changeBrand, changeLogo, changeTimeZone } from "../../commands/account/change-settings.ts";
import { closeAccount } from "../../commands/account/close-account.ts";
import { Refused } from "../../commands/refusals.ts";
import { sendExport } from "../../limits/exports.ts";
import type { OpenStreams } from "../../limits/open-streams.ts";
import { countTry } from "../../limits/rate-limit.ts";
import { LOGO_MAX_BYTES } from "../../qr/logo.ts";
import { PasswordTyped, reauthenticate } from "../auth/reauthenticate.ts";
import { endSession, type SignInDeps } from "../auth/start-session.ts";
import { typedUrl } from "../links/urls.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { schemaOf } from "../shell/controls.ts";
import { formRoute, type ShowAgain } from "../shell/form-route.ts";
import { signedIn } from "../shell/sessions.ts";
import { BRAND_FIELDS, sendAccountPage } from "./account-page.ts";

/** Limited, because each export reads the whole log since the account was opened. */
const EXPORTS_AN_HOUR = 5;

const ZoneForm = z.object({ timezone: z.string().default("") });
const LogoForm = z.object({ logo: z.instanceof(Uint8Array).optional().catch(undefined) });

export function accountChanges(app: Api, deps: SignInDeps): void {
  const again: ShowAgain = (reply, refused) => sendAccountPage(deps, reply, refused);

  formRoute(app, deps, "/account/brand", {
    again,
    schema: { body: schemaOf(BRAND_FIELDS) },
    run: async ({ session: { accountId }, context, body }) => {
      const { position } = await changeBrand(deps.links, context, accountId, {
        name: body.name,
        colour: body.no_colour ? "" : body.colour,
        url: body.url.trim() === "" ? "" : typedUrl(body.url),
      });
      return { position, notice: "Saved. Visitors see it within seconds." };
    },
  });

  app.register(async (scope: Api) => {
    takeUploads(scope);
    formRoute(scope, deps, "/account/logo", {
      again,
      bodyLimit: LOGO_MAX_BYTES + FORM_FRAME_BYTES,
      schema: { body: LogoForm },
      run: async ({ session: { accountId }, context, body: { logo } }) => {
        if (logo === undefined || logo.length === 0)
          throw new Refused("invalid_request", "Choose a PNG image first", { field: "logo" });
        const drawn = await deps.makeLogo(logo);
        if ("problem" in drawn) throw new Refused("invalid_request", drawn.problem, { field: "logo" });
        const { position } = await changeLogo(deps, context, accountId, drawn.image);
        return { position, notice: "Your logo is set: it is in the middle of your QR codes." };
      },
    });
  });

  formRoute(app, deps, "/account/logo/remove", {
    run: async ({ session: { accountId }, context }) => {
      const { position } = await changeLogo(deps, context, accountId, null);
      return { position, notice: "Your logo is removed." };
    },
  });

  formRoute(app, deps, "/account/time-zone", {
    again,
    schema: { body: ZoneForm },
    run: async ({ session: { accountId }, context, body: { timezone } }) => {
      const { position } = await changeTimeZone(deps, context, accountId, timezone);
      return { position, notice: "Saved. Your numbers have their days there now." };
    },
  });

  formRoute(app, deps, "/account/close", {
    again,
    count: "uncounted",
    schema: { body: PasswordTyped },
    run: async ({ reply, context, person, session: { accountId }, body: { password } }) => {
      await reauthenticate(deps, person, password);
      const { position } = await closeAccount(deps, context, accountId);
      await deps.whenReadable(position);
      await endSession(deps, reply);
      const bye = "Your account is closed. Thank you for having been here.";
      return { to: "/portal/sign-in", notice: { kind: "info", text: bye } };
    },
  });
}

export function exportRoute(app: Api, deps: PortalDeps & { exports: OpenStreams }): void {
  // A HEAD would read the whole export for nobody.
  const options = { exposeHeadRoute: false };
  app.get("/account/export", options, async (request, reply) => {
    const { accountId, email, tier } = signedIn(request);
    await countTry(deps, `export ${accountId}`, EXPORTS_AN_HOUR);
    const at = deps.clock().toISOString();
    const head = { account_id: accountId, email, tier, exported_at: at };
    const file = { type: "application/x-ndjson", name: `linkledger-${at.slice(0, 10)}.ndjson` };
    return sendExport(reply, deps.exports, accountId, file, async function* (signal) {
      yield `${JSON.stringify(head)}\n`;
      yield* deps.logReader.exportAccount(accountId, signal);
    });
  });
}
