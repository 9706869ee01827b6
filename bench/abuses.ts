// What an abuser does, kind by kind: one request of each, and how often it is made.
import { connect, type Socket } from "node:net";
import { csrfOf } from "../test/support/portal/browser-like.ts";
import { send } from "../test/support/service/ask.ts";
import { benchSlug } from "./traffic/requests.ts";

export const ABUSES = [
  "keys",
  "links",
  "qr",
  "search",
  "export",
  "stalled-live",
  "scan",
  "sign-in",
  "bad-keys",
  "ready",
] as const;
export type Abuse = (typeof ABUSES)[number];

export type AbuseOrder = {
  port: number;
  kinds: readonly Abuse[];
  seconds: number;
  /** Cookies of a signed-in Free account with many links, and of a Developer account that owns the visited links. */
  free: string;
  watcher: string;
};

/** How often each answer came: status codes, or what went wrong. */
export type AbuseCounts = Partial<Record<Abuse, Record<string, number>>>;

/** `perSecond`: starts a second; `atOnce`: most of this kind in flight, so that a slow service isn't flooded by waiting. */
export type AbuseKind = { perSecond: number; atOnce: number; once: (n: number) => Promise<string> };

/** Loopback is trusted to say so: the abuser comes from elsewhere than the redirects' visitors. */
const ABUSER = "198.51.100.66";
const WATCHERS = 10;

/** The form token is the session's, so it is fetched once. */
export async function abuseKinds({ port, free, watcher }: AbuseOrder): Promise<Record<Abuse, AbuseKind>> {
  const ask = async (path: string, headers: Record<string, string> = {}, body?: string) => {
    const method = body === undefined ? "GET" : "POST";
    return send<unknown>(port, path, {
      method,
      headers: { "x-forwarded-for": ABUSER, accept: "text/html", ...headers },
      body,
    });
  };
  const asFree = { cookie: free };
  const page = await ask("/portal/keys", asFree);
  const [withToken, csrf] = [withCookies(free, page.headers["set-cookie"]), csrfOf(page.text)];
  const form = (path: string, fields: Record<string, string>) =>
    ask(
      path,
      { cookie: withToken, "content-type": "application/x-www-form-urlencoded" },
      new URLSearchParams({ _csrf: csrf, ...fields }).toString(),
    );
  const status = async (answer: Promise<{ status: number }>) => String((await answer).status);
  const signInPage = await ask("/portal/sign-in");
  const stranger = withCookies("", signInPage.headers["set-cookie"]);
  const guess = (n: number) =>
    ask(
      "/portal/sign-in",
      { cookie: stranger, "content-type": "application/x-www-form-urlencoded" },
      new URLSearchParams({
        _csrf: csrfOf(signInPage.text),
        email: "watcher@example.com",
        password: `guess ${n}`,
      }).toString(),
    );
  return {
    keys: {
      perSecond: 100,
      atOnce: 4,
      once: async (n) => {
        const issued = await form("/portal/keys", { label: `key ${n}` });
        const keys = await ask("/portal/keys", asFree);
        const deactivate = /action="(\/portal\/keys\/[^"]+\/deactivate)"/.exec(keys.text)?.[1];
        if (deactivate) await form(deactivate, {});
        return String(issued.status);
      },
    },
    links: {
      perSecond: 100,
      atOnce: 8,
      once: (n) => status(form("/portal/links", { url: `https://example.com/${n}` })),
    },
    qr: {
      perSecond: 50,
      atOnce: 16,
      // A colour of its own each time: no cache helps.
      once: (n) =>
        status(
          ask(
            `/api/qr/${benchSlug(n % 100)}?size=2048&margin=0&ecc=H&dark=${n.toString(16).padStart(6, "0")}`,
          ),
        ),
    },
    search: { perSecond: 50, atOnce: 8, once: (n) => status(ask(`/portal/links?q=nowhere-${n}`, asFree)) },
    export: { perSecond: 2, atOnce: 2, once: () => status(ask("/portal/account/export", asFree)) },
    "stalled-live": { perSecond: WATCHERS, atOnce: WATCHERS, once: () => stalledWatcher(port, watcher) },
    scan: { perSecond: 500, atOnce: 16, once: (n) => status(ask(`/s${(n * 7919) % 1_000_000}${n}`)) },
    "sign-in": { perSecond: 20, atOnce: 4, once: (n) => status(guess(n)) },
    "bad-keys": {
      perSecond: 100,
      atOnce: 8,
      once: (n) => status(ask("/api/v1/links", { "x-api-key": `ll_${n.toString().padStart(32, "0")}` })),
    },
    ready: { perSecond: 100, atOnce: 8, once: () => status(ask("/health/ready")) },
  };
}

/** Asks for live updates of the most visited link and never reads them, until the service gives it up. */
function stalledWatcher(port: number, cookie: string): Promise<string> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ host: "127.0.0.1", port }, () => {
      socket.write(
        `GET /portal/links/localhost/${benchSlug(0)}/live HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`,
      );
      socket.pause();
    });
    socket.on("error", () => resolve("reset"));
    socket.on("close", () => resolve("dropped"));
    // Not counted as an answer: it has been stalled for as long as the benchmark runs.
    setTimeout(() => {
      socket.destroy();
      resolve("still stalled");
    }, 25_000).unref();
  });
}

function withCookies(cookie: string, set: readonly string[] = []): string {
  return [cookie, ...set.map((line) => line.split(";")[0] ?? "")].filter((one) => one !== "").join("; ");
}
