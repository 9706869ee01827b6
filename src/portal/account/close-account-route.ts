// POST /portal/account/close: closes the account, given its password.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { closeAccount } from "../../commands/account/close-account.ts";
import { isClientError } from "../../runtime/refused.ts";
import { endSession, type SignInDeps } from "../auth/start-session.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { portalContext, redirectTo } from "../shell/visit.ts";
import { reauthenticate } from "./account-changes.ts";
import { sendAccountPage } from "./account-page.ts";

const Form = z.object({ password: z.string().default("") });
const DONE = "Your account is closed. Thank you for having been here.";

export function closeAccountRoute(app: Api, deps: SignInDeps): void {
  app.post(
    "/account/close",
    { preHandler: requireSession, schema: { body: Form } },
    async (request, reply) => {
      const { accountId } = signedIn(request);
      try {
        await reauthenticate(deps, request, request.body.password);
      } catch (refused) {
        if (!isClientError(refused)) throw refused;
        return sendAccountPage(deps, request, reply, { form: "close", refused });
      }
      const { position } = await closeAccount(deps, portalContext(request), accountId);
      await deps.whenReadable(position);
      await endSession(deps, request, reply);
      return redirectTo(reply, "/portal/sign-in", { kind: "info", text: DONE });
    },
  );
}
