// POST /portal/theme and /admin/theme: stores light, dark or system in a cookie; works without scripts and without a session.
// Without `next` the browser stays where it is.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { pathWithin, redirectTo, THEMES } from "./visit.ts";

const YEAR_SECONDS = 31_536_000;

const Form = z.object({ theme: z.enum(THEMES), next: z.string().optional() });

export function themeRoute(app: Api): void {
  app.post("/theme", { schema: { body: Form } }, async (request, reply) => {
    const { theme, next } = request.body;
    const { cookies, home } = request.visit;
    if (theme === "system") reply.clearCookie(cookies.theme, cookies.options);
    else reply.setCookie(cookies.theme, theme, { ...cookies.options, maxAge: YEAR_SECONDS });
    if (next === undefined) return reply.code(204).send();
    return redirectTo(reply, next.split("?")[0] === "/" ? "/" : pathWithin(home, next));
  });
}
