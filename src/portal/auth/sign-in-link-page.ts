// What a link opens that the operator made for somebody who can't sign in otherwise: looking at it spends nothing, as programs
// that check mails do; its button signs in, once.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { lookAtSignInLink, useSignInLink } from "../../commands/people/one-time-tokens.ts";
import { hiddenFields } from "../shell/controls.ts";
import { redirectTo } from "../shell/request-visit.ts";
import { sendFormPage } from "./form-page.ts";
import { type SignInDeps, startSession } from "./start-session.ts";

const Link = z.object({ token: z.string().default("") });

export function signInLinkPage(app: Api, deps: SignInDeps): void {
  app.get("/sign-in/link", { schema: { querystring: Link } }, async ({ query: { token } }, reply) => {
    const { email } = await lookAtSignInLink(deps, token);
    // The address of the page holds the token.
    reply.header("referrer-policy", "no-referrer");
    return sendFormPage(reply, {
      title: "Sign in",
      lead: `${email && `As ${email}. `}The link works once.`,
      action: "/portal/sign-in/link",
      fields: hiddenFields({ token }),
      button: "Sign in",
    });
  });

  app.post("/sign-in/link", { schema: { body: Link } }, async (request, reply) => {
    const proven = await useSignInLink(deps, request.body.token);
    await startSession(deps, request, reply, { ...proven, way: "link" });
    return redirectTo(reply, "/portal", { kind: "done", text: "You are signed in." });
  });
}
