// The portal's cookies: host-only, HttpOnly, SameSite=Lax.
import { hash } from "node:crypto";
import type { CookieSerializeOptions } from "@fastify/cookie";

export type PortalCookies = ReturnType<typeof portalCookies>;

/** The `__Host-` prefix keeps subdomains from setting the cookie; browsers accept it over https only. */
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
    /** Of the console (admin/operator-session.ts). */
    operator: named("operator"),
    /** One cookie per account; named by a digest, so that it does not contain the account id. */
    device: (accountId: string) => named(`device-${hash("sha256", accountId).slice(0, 16)}`),
    theme: named("theme"),
    notice: named("notice"),
  };
}
