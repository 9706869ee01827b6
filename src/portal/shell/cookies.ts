// The portal's cookies: for this host only, out of reach of scripts, not sent along by other sites' forms.
import { createHash } from "node:crypto";
import type { CookieSerializeOptions } from "@fastify/cookie";

export type PortalCookies = ReturnType<typeof portalCookies>;

/** `__Host-` binds a cookie to this very host, but browsers take it over https only. */
export function portalCookies(baseUrl: string) {
  const secure = baseUrl.startsWith("https:");
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
    /** One for each account that was signed in to from the browser, by which none shows. */
    device: (accountId: string) =>
      named(`device-${createHash("sha256").update(accountId).digest("hex").slice(0, 16)}`),
    forms: named("forms"),
    theme: named("theme"),
    notice: named("notice"),
  };
}
