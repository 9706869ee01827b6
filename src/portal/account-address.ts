// The account in the addresses of its pages, /portal/ID/links, so that a page's address shows the same page to a colleague, and
// two tabs may be in two accounts. Routes and pages are written without it: it is taken off before the routing, and put into
// what is sent.
import type { Api } from "../api/fastify.ts";
import { accessAt, isOfAccount, mayAsk } from "./route-rights.ts";
import type { SignedIn } from "./shell/sessions.ts";

const ADDRESSED = /^\/portal\/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?=[/?]|$)/;

/** As the routes know it: the address without the account. */
export function withoutAccount(url: string): string {
  return url.replace(ADDRESSED, "/portal");
}

/** Id of the account in the address. */
export function accountIn(url: string): string | undefined {
  return ADDRESSED.exec(url)?.[1];
}

/** Where whoever may opens the account's page at the path. */
export function addressIn(accountId: string, path: string): string {
  return `/portal/${accountId}${path.slice("/portal".length)}`;
}

/**
 * A page of an account that is opened without it in the address, such as the first one after the sign-in, is led to the address
 * with it; so are the answers to forms.
 */
export function accountAddresses(app: Api): void {
  app.addHook("preValidation", async ({ visit, method, url, headers, routeOptions }, reply) => {
    const { session, accountId } = visit;
    const { right = "anyone" } = routeOptions.config;
    const isPage = method === "GET" && headers.accept?.includes("text/html") === true && isOfAccount(right);
    if (isPage && session && accountId === undefined)
      return reply.redirect(addressIn(session.accountId, url), 303);
    return undefined;
  });
  app.addHook("onSend", async ({ visit }, reply, payload) => {
    const to = reply.getHeader("location");
    // Undefined of what is refused before visitHook runs, such as requests for another host.
    const session = (visit as typeof visit | undefined)?.session;
    if (session && typeof to === "string" && isInAccount(to))
      reply.header("location", addressIn(session.accountId, to));
    return payload;
  });
}

const LINK = /<a\b[^>]*\bhref="(\/portal[^"]*)"[^>]*>(.*?)<\/a>/gs;
const ADDRESS = /(?<=\b(?:href|(?:form)?action|data-\w+)=")\/portal(?=["/?#])[^"]*/g;

/** A page's text, with the account in its links and forms, and without links to what the role may not open. */
export function addressedText(
  text: string,
  { accountId, role }: Pick<SignedIn, "accountId" | "role">,
): string {
  return text
    .replace(LINK, (link, address, words) =>
      mayAsk(role, "GET", address) ? link : /\bclass="(?:button|locked)/.test(link) ? "" : words,
    )
    .replace(ADDRESS, (path) => (isInAccount(path) ? addressIn(accountId, path) : path));
}

function isInAccount(path: string): boolean {
  if (!path.startsWith("/portal") || accountIn(path) !== undefined) return false;
  const access = accessAt("GET", path) ?? accessAt("POST", path);
  return access !== undefined && access !== "anyone";
}
