// The portal's cookies: for this host only, out of reach of scripts, not sent along by other sites' forms.
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
    forms: named("forms"),
    theme: named("theme"),
    notice: named("notice"),
  };
}
