// POST /portal/account/close: the way out, for someone who knows the password.
import { z } from "zod";
import type { Api } from "../api/fastify.ts";
import type { CommandContext } from "../commands/caller.ts";
import { type CloseDeps, closeAccount, closingsLeft, finishClosing } from "../commands/close-account.ts";
import { CommandRefused } from "../commands/errors.ts";
import { linksLeft } from "../queries/links-left.ts";
import { proveAgain } from "./account-changes.ts";
import { sendAccountPage } from "./account-page.ts";
import type { PortalDeps } from "./portal-deps.ts";
import { requireSession, signedIn } from "./sessions.ts";
import { endSession, type SignInDeps } from "./start-session.ts";
import { portalContext, redirectTo } from "./visit.ts";

const Form = z.object({ password: z.string().default("") });
const DONE = "Your account is closed. Thank you for having been here.";

export function closeAccountRoute(app: Api, deps: SignInDeps): void {
  const closing = closeDeps(deps);

  app.post(
    "/account/close",
    { preHandler: requireSession, schema: { body: Form } },
    async (request, reply) => {
      const { accountId } = signedIn(request);
      try {
        await proveAgain(deps, request, request.body.password);
      } catch (refused) {
        if (!(refused instanceof CommandRefused)) throw refused;
        return sendAccountPage(deps, request, reply, { form: "close", refused });
      }
      const context = portalContext(request);
      const { position } = await closeAccount(closing, context, accountId);
      await deps.whenReadable(position);
      inBackground(deps, finishClosing(closing, context, accountId));
      await endSession(deps, request, reply);
      return redirectTo(reply, "/portal/sign-in", { kind: "told", text: DONE });
    },
  );
}

/** What a stop cut off: called once at start. */
export function finishClosings(deps: PortalDeps): void {
  const closing = closeDeps(deps);
  const finish = async () => {
    for (const accountId of await closingsLeft(deps)) {
      const context: CommandContext = { requestId: deps.newId(), actor: { type: "system", id: "closing" } };
      await finishClosing(closing, context, accountId);
    }
  };
  inBackground(deps, finish());
}

function closeDeps(deps: PortalDeps): CloseDeps {
  const { announce } = deps.links;
  return { ...deps, announce, linksLeft: (accountId) => linksLeft(deps, accountId) };
}

/** Nobody waits: what fails is finished at the next start. */
function inBackground({ log }: PortalDeps, work: Promise<unknown>): void {
  work.catch((err: unknown) =>
    log.warn({ err }, "closing an account was interrupted, it goes on at the next start"),
  );
}
