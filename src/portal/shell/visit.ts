// What every page knows of the request it answers: who is signed in, light or dark, and the word left by the last form.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import type { CommandContext } from "../../commands/caller.ts";
import type { Assets } from "./assets.ts";
import type { PortalCookies } from "./cookies.ts";
import type { Sessions, SignedIn } from "./sessions.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** `done` is green, `failed` red, `told` neutral. */
export type Notice = { kind: "done" | "failed" | "told"; text: string };

export type Visit = {
  session: SignedIn | undefined;
  theme: Theme;
  /** Left by the form that led here; the page that shows it takes its cookie away. */
  notice: Notice | undefined;
  /** The token of this page's forms, made at the first of them: a second one would make the first one void. */
  csrf: string | undefined;
  assets: Assets;
  cookies: PortalCookies;
};

declare module "fastify" {
  interface FastifyRequest {
    /** Set before any hook or route of the portal. */
    visit: Visit;
  }
}

const NOTICE_SECONDS = 60;
const LONGEST_NOTICE = 300;

export function visitHook(
  app: Api,
  deps: { sessions: Sessions; assets: () => Assets; cookies: PortalCookies },
): void {
  const { cookies } = deps;
  app.decorateRequest("visit");
  app.addHook("onRequest", async (request) => {
    const given = request.cookies;
    request.visit = {
      session: await deps.sessions.find(given[cookies.session]),
      theme: THEMES.find((theme) => theme === given[cookies.theme]) ?? "system",
      notice: noticeIn(given[cookies.notice]),
      csrf: undefined,
      assets: deps.assets(),
      cookies,
    };
  });
}

/** Whom a form's token is bound to, so that signing in or out makes the tokens of before void. */
export function formOwner(visit: Visit): string {
  return visit.session?.sessionId ?? "nobody";
}

/** After a form: on to a page that can be reloaded, and what to say there. `path` is one of ours. */
export function redirectTo(reply: FastifyReply, path: string, notice?: Notice): FastifyReply {
  if (notice) {
    const { cookies } = reply.request.visit;
    const text = notice.text.slice(0, LONGEST_NOTICE);
    const value = Buffer.from(JSON.stringify({ kind: notice.kind, text })).toString("base64url");
    reply.setCookie(cookies.notice, value, { ...cookies.options, maxAge: NOTICE_SECONDS });
  }
  return reply.redirect(path, 303);
}

/** `next` when it is a path of this very site, else the fallback; nothing a browser could read as another host. */
export function pathWithin(next: string | undefined, fallback: string): string {
  if (next === undefined || !/^\/(?![/\\])[!-~]*$/.test(next) || next.includes("\\")) return fallback;
  const here = "http://this.invalid";
  if (!URL.canParse(next, here)) return fallback;
  const url = new URL(next, here);
  return url.origin === here && url.pathname.startsWith("/portal") ? url.pathname + url.search : fallback;
}

/** Where a command of the portal came from, as it is written into every event's metadata. */
export function portalContext(request: FastifyRequest): CommandContext {
  return { requestId: request.id, actor: { type: "account", id: request.visit.session?.accountId ?? "" } };
}

function noticeIn(cookie: string | undefined): Notice | undefined {
  if (!cookie) return undefined;
  try {
    const { kind, text } = JSON.parse(Buffer.from(cookie, "base64url").toString("utf8"));
    const known = (["done", "failed", "told"] as const).find((one) => one === kind);
    return known && typeof text === "string"
      ? { kind: known, text: text.slice(0, LONGEST_NOTICE) }
      : undefined;
  } catch {
    return undefined;
  }
}
