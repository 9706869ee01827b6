// The signed cookie by which a browser that has given a link's password is not asked again.
import { createHmac, timingSafeEqual } from "node:crypto";
import { derivedKey } from "../../stores/secrets/derived-key.ts";

const COOKIE = "linkledger-link";
const LASTS_MS = 12 * 3_600_000;
const BASE = 36;
/** When it ends, in milliseconds since 1970, and the HMAC. */
const PASS = /^([0-9a-z]{1,11})\.([A-Za-z0-9_-]{43})$/;
/** Of one name a browser sends as many as there are paths and domains that fit. */
const MOST_PASSES = 8;
/** What can stand in an attribute of a cookie: printable ASCII without `;`. */
const PLAIN_PATH = /^\/[!-:<-~]+$/;

/**
 * `link`: `<host>/<slug>`; `passwordId`: each password has its own, so that a new one ends the old one's passes.
 */
export type PassFor = { link: string; passwordId: string };

export type LinkPasses = {
  /** Value of a cookie for this link and password alone. `now`: milliseconds since 1970. */
  issue(of: PassFor, now: number): string;
  /** Whether a Cookie header holds a pass that has not ended. */
  isIn(header: string | undefined, of: PassFor, now: number): boolean;
};

/** Under a key of its own (HKDF, RFC 5869, from SECRET_KEY). */
export function linkPasses(secretKey: string): LinkPasses {
  const key = derivedKey(secretKey, "linkledger: passes of links");
  const signed = ({ link, passwordId }: PassFor, end: string) =>
    createHmac("sha256", key)
      .update(JSON.stringify([link, passwordId, end]))
      .digest("base64url");

  const isValid = (pass: string, of: PassFor, now: number) => {
    const [, end = "", signature = ""] = PASS.exec(pass) ?? [];
    if (end === "" || Number.parseInt(end, BASE) <= now) return false;
    // As texts: two texts of base64url can stand for the same bytes.
    return timingSafeEqual(Buffer.from(signature), Buffer.from(signed(of, end)));
  };
  return {
    issue(of, now) {
      const end = (now + LASTS_MS).toString(BASE);
      return `${end}.${signed(of, end)}`;
    },
    isIn: (header, of, now) => passesIn(header ?? "").some((pass) => isValid(pass, of, now)),
  };
}

function passesIn(header: string): string[] {
  const start = `${COOKIE}=`;
  const cookies = header.split(";").map((cookie) => cookie.trim());
  const passes = cookies.filter((cookie) => cookie.startsWith(start)).slice(0, MOST_PASSES);
  return passes.map((cookie) => cookie.slice(start.length));
}

/**
 * A Set-Cookie header, until the browser is closed. Its path is the one that the visitor has used, because paths
 * of cookies are case-sensitive and slugs are not; in another spelling the link asks once more. `url`: of the
 * request.
 */
export function passCookie(pass: string, url: string, { isSecure }: { isSecure: boolean }): string {
  const [path = ""] = url.split(/[?#]/);
  const scope = PLAIN_PATH.test(path) ? `; Path=${path}` : "";
  return `${COOKIE}=${pass}${scope}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}
