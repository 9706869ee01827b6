// A browser without scripts for tests over real HTTP: keeps cookies, follows redirects, submits forms. Addresses in what it
// returns are as routes know them: without the account.
import type { IncomingHttpHeaders } from "node:http";
import { withoutAccount } from "../../../src/portal/account-address.ts";
import { type Answer, send } from "../service/ask.ts";

export type Visitor = ReturnType<typeof visitor>;

const HTML = "text/html,application/xhtml+xml,*/*;q=0.8";
/** Long enough to be accepted, and on no list of common ones. */
export const PASSWORD = "seven brown foxes";
export const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/** `address`: sent as X-Forwarded-For; the service must trust loopback (TRUST_PROXY). */
export function visitor(port: number, options: { address?: string; userAgent?: string; host?: string } = {}) {
  const cookies = new Map<string, string>();
  const sentTo = new WeakMap<Answer<unknown>, string>();
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const ask = async (method: string, path: string, body?: string): Promise<Answer<unknown>> => {
    const headers: Record<string, string> = {
      accept: HTML,
      "user-agent": options.userAgent ?? FIREFOX,
      cookie: cookie(),
    };
    if (options.address) headers["x-forwarded-for"] = options.address;
    if (body !== undefined) headers["content-type"] = "application/x-www-form-urlencoded";
    const host = options.host ?? "localhost";
    const answer = await send<unknown>(port, path, { method, headers, body, host });
    keep(cookies, answer.headers);
    const { location } = answer.headers;
    const routed = location === undefined ? undefined : withoutAccount(location);
    // As a browser does at the first page after the sign-in.
    if (method === "GET" && routed === path && location !== path) return await ask("GET", location ?? path);
    const text = answer.text.replace(/(?<==")\/portal\/[^"]*/g, withoutAccount);
    const shown = { ...answer, text, headers: { ...answer.headers, ...(routed && { location: routed }) } };
    if (location !== undefined) sentTo.set(shown, location);
    return shown;
  };
  const follow = async (answer: Answer<unknown>): Promise<Answer<unknown>> => {
    const location = sentTo.get(answer);
    if (answer.status !== 303 || !location) return answer;
    return follow(await ask("GET", location));
  };
  return {
    cookies,
    /** As a header. */
    cookie,
    get: (path: string) => ask("GET", path),
    /** Posts the fields without following redirects. */
    post: (path: string, fields: Record<string, string> | [name: string, value: string][] = {}) =>
      ask("POST", path, new URLSearchParams(fields).toString()),
    /** Posts the fields and follows redirects. */
    async submit(page: string, fields: Record<string, string>, action = page): Promise<Answer<unknown>> {
      return follow(await ask("POST", action, new URLSearchParams(fields).toString()));
    },
    follow,
  };
}

/** Somebody who has signed up with PASSWORD. */
export async function signedUp(
  port: number,
  email: string,
  options: Parameters<typeof visitor>[1] = {},
): Promise<Visitor> {
  const person = visitor(port, options);
  await person.submit("/portal/sign-up", { email, password: PASSWORD });
  return person;
}

/** The text of a key that the page issues. */
export async function issuedKey(person: Visitor, label = "A program"): Promise<string> {
  const { text } = await person.submit("/portal/keys", { label });
  return /ll_[A-Za-z0-9]{32}/.exec(text)?.[0] ?? "";
}

/** Decodes numeric character references. */
export function decoded(markup: string): string {
  return markup.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

function keep(cookies: Map<string, string>, headers: IncomingHttpHeaders): void {
  for (const line of headers["set-cookie"] ?? []) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === "" || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
    else cookies.set(name, value);
  }
}
