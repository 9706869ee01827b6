// What a request brings: its cookies, and by them session, theme, and the notice of the last form.

import { hash } from "node:crypto";
import type { CookieSerializeOptions } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { byPerson } from "../../commands/people/person-stream.ts";
import type { NamedAccount } from "../../queries/people.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import { type FlowName, flowName } from "../../sign-in/sign-in-flows.ts";
import { accountIn } from "../account-address.ts";
import type { Assets } from "./assets.ts";
import type { SignedIn, SignedInPerson } from "./sessions.ts";

export const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const LONGEST_NOTICE = 300;
const Notice = z.object({ kind: z.enum(["done", "failed", "info"]), text: z.string().max(LONGEST_NOTICE) });
export type Notice = z.infer<typeof Notice>;

export type PortalVisit = {
  /** Who is signed in, in an account that they are a member of. */
  session: SignedIn | undefined;
  /** Who is signed in, be it in no account. */
  person: SignedInPerson | undefined;
  /** Of who is a member of several. */
  accounts: readonly NamedAccount[];
  /** Id of the account in the address. */
  accountId: string | undefined;
  /** In the console only: the session's id, which is not secret, or `token`. */
  operator: string | undefined;
  /** Path of the first page, and what the others begin with. */
  home: "/portal" | "/admin";
  /** Whether the portal offers plans. */
  sellsPlans: boolean;
  /** Whether anybody may open an account. */
  isSignUpOpen: boolean;
  theme: Theme;
  /** From the notice cookie of the last form; the page that shows it clears the cookie. */
  notice: Notice | undefined;
  /** Of the browser, as portal.js says it; may be no zone at all. */
  zone: string | undefined;
  assets: Assets;
  cookies: PortalCookies;
};

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `visitHook`. */
    visit: PortalVisit;
  }
}

type PortalCookies = ReturnType<typeof portalCookies>;

/**
 * Host-only, HttpOnly, SameSite=Lax. The `__Host-` prefix keeps subdomains from setting the cookie; browsers accept it over https only.
 */
export function portalCookies(baseUrl: string) {
  const secure = baseUrl.startsWith("https:");
  const ofPerson = (name: string, personId: string) =>
    named(`${name}-${hash("sha256", personId).slice(0, 16)}`);
  const named = (name: string) => (secure ? `__Host-linkledger-${name}` : `linkledger-${name}`);
  const options = {
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    secure,
  } as const satisfies CookieSerializeOptions;
  return {
    options,
    session: named("session"),
    /** Set by portal.js, on any scheme. */
    zone: "linkledger-zone",
    /** Of the console (admin/access.ts). */
    operator: named("operator"),
    /** One cookie per person; named by a digest, so that it does not contain their id. */
    device: (personId: string) => ofPerson("device", personId),
    /** When they dismissed their news. */
    newsSeen: (personId: string) => ofPerson("news", personId),
    /** Of who was sent to a provider, or to their authenticator. */
    flow: (name: FlowName) => named(flowName(name)),
    theme: named("theme"),
    notice: named("notice"),
  };
}

const YEAR_SECONDS = 31_536_000;
const NOTICE_SECONDS = 60;

type VisitDeps = Pick<PortalVisit, "home" | "assets" | "cookies"> & {
  sellsPlans?: boolean;
  isSignUpOpen?: boolean;
  /** Who is signed in, by the request's cookies, in the account that its address names. */
  signedIn: (
    cookies: Readonly<Record<string, string | undefined>>,
    accountId: string | undefined,
  ) => Promise<Partial<Pick<PortalVisit, "session" | "person" | "accounts" | "operator">>>;
};

export function visitHook(
  app: Api,
  { home, assets, cookies, sellsPlans = false, isSignUpOpen = false, signedIn }: VisitDeps,
): void {
  app.decorateRequest("visit");
  app.addHook("onRequest", async (request) => {
    const sent = request.cookies;
    const theme = THEMES.find((name) => name === sent[cookies.theme]) ?? "system";
    const notice = noticeIn(sent[cookies.notice]);
    const accountId = accountIn(request.originalUrl);
    const nobody = { session: undefined, person: undefined, accounts: [], operator: undefined };
    const people = { ...nobody, ...(await signedIn(sent, accountId)) };
    const zone = sent[cookies.zone];
    request.visit = {
      ...people,
      accountId,
      home,
      sellsPlans,
      isSignUpOpen,
      theme,
      notice,
      zone,
      assets,
      cookies,
    };
  });
}

/** Redirects after a form (303), with a notice for the next page. `path`: of this site. */
export function redirectTo(reply: FastifyReply, path: string, notice?: Notice): FastifyReply {
  if (notice) {
    const { cookies } = reply.request.visit;
    const text = cutText(notice.text, LONGEST_NOTICE);
    const value = Buffer.from(JSON.stringify({ kind: notice.kind, text })).toString("base64url");
    reply.setCookie(cookies.notice, value, { ...cookies.options, maxAge: NOTICE_SECONDS });
  }
  return reply.redirect(path, 303);
}

const ThemeForm = z.object({ theme: z.enum(THEMES), next: z.string().optional() });

/**
 * POST /portal/theme and /admin/theme: keeps light, dark or system in a cookie; works without scripts and without a
 * session. Without `next` the browser stays where it is.
 */
export function themeRoute(app: Api): void {
  app.post("/theme", { schema: { body: ThemeForm } }, async (request, reply) => {
    const { theme, next } = request.body;
    const { cookies, home } = request.visit;
    if (theme === "system") reply.clearCookie(cookies.theme, cookies.options);
    else reply.setCookie(cookies.theme, theme, { ...cookies.options, maxAge: YEAR_SECONDS });
    if (next === undefined) return reply.code(204).send();
    return redirectTo(reply, next.split("?")[0] === "/" ? "/" : pathWithin(home, next));
  });
}

/** `next` if it is a path within the portal or the console, else its first page; prevents open redirects. */
export function pathWithin(home: PortalVisit["home"], next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])[!-~]*$/.test(next) || next.includes("\\")) return home;
  const here = "http://this.invalid";
  const url = URL.parse(next, here);
  const isWithin = url?.origin === here && `${url.pathname}/`.startsWith(`${home}/`);
  return isWithin ? url.pathname + url.search : home;
}

/** The context of a command sent from the portal, for the metadata of its events. */
export function portalContext(request: FastifyRequest): CommandContext {
  return byPerson(request.id, request.visit.person?.personId ?? "");
}

function noticeIn(cookie: string | undefined): Notice | undefined {
  try {
    return Notice.parse(JSON.parse(Buffer.from(cookie ?? "", "base64url").toString("utf8")));
  } catch {
    return undefined;
  }
}
