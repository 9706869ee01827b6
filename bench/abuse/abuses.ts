// The kinds of abuse: the request of each, its rate, and how many may be in flight.
import { connect, type Socket } from "node:net";
import { send as sendRequest } from "../../test/support/service/ask.ts";
import { benchSlug } from "../traffic/requests.ts";

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

/** Number of responses by status code, or by error message. */
export type AbuseCounts = Partial<Record<Abuse, Record<string, number>>>;

/** `perSecond`: requests started a second; `maxInFlight`: bounds the requests that wait for a slow service. */
export type AbuseKind = { perSecond: number; maxInFlight: number; send: (n: number) => Promise<string> };

/** Client address of the abuse, sent as X-Forwarded-For, which the service trusts from loopback. */
const ABUSER = "198.51.100.66";
const WATCHERS = 10;

export async function abuseKinds({ port, free, watcher }: AbuseOrder): Promise<Record<Abuse, AbuseKind>> {
  const request = async (path: string, headers: Record<string, string> = {}, body?: string) => {
    const method = body === undefined ? "GET" : "POST";
    return sendRequest<unknown>(port, path, {
      method,
      headers: { "x-forwarded-for": ABUSER, accept: "text/html", ...headers },
      body,
    });
  };
  const asFree = { cookie: free };
  const form = (path: string, fields: Record<string, string>) =>
    request(
      path,
      { cookie: free, "content-type": "application/x-www-form-urlencoded" },
      new URLSearchParams(fields).toString(),
    );
  const status = async (answer: Promise<{ status: number }>) => String((await answer).status);
  const guess = (n: number) =>
    request(
      "/portal/sign-in",
      { "content-type": "application/x-www-form-urlencoded" },
      new URLSearchParams({
        email: "watcher@example.com",
        password: `guess ${n}`,
      }).toString(),
    );
  return {
    keys: {
      perSecond: 100,
      maxInFlight: 4,
      send: async (n) => {
        const issued = await form("/portal/keys", { label: `key ${n}` });
        const keys = await request("/portal/keys", asFree);
        const deactivate = /action="(\/portal\/keys\/[^"]+\/deactivate)"/.exec(keys.text)?.[1];
        if (deactivate) await form(deactivate, {});
        return String(issued.status);
      },
    },
    links: {
      perSecond: 100,
      maxInFlight: 8,
      send: (n) => status(form("/portal/links", { url: `https://example.com/${n}` })),
    },
    qr: {
      perSecond: 50,
      maxInFlight: 16,
      // Another colour each time, so that no image is cached.
      send: (n) =>
        status(
          request(
            `/api/qr/${benchSlug(n % 100)}?size=2048&margin=0&ecc=H&dark=${n.toString(16).padStart(6, "0")}`,
          ),
        ),
    },
    search: {
      perSecond: 50,
      maxInFlight: 8,
      send: (n) => status(request(`/portal/links?q=nowhere-${n}`, asFree)),
    },
    export: { perSecond: 2, maxInFlight: 2, send: () => status(request("/portal/account/export", asFree)) },
    "stalled-live": { perSecond: WATCHERS, maxInFlight: WATCHERS, send: () => stalledWatcher(port, watcher) },
    scan: {
      perSecond: 500,
      maxInFlight: 16,
      send: (n) => status(request(`/s${(n * 7919) % 1_000_000}${n}`)),
    },
    "sign-in": { perSecond: 20, maxInFlight: 4, send: (n) => status(guess(n)) },
    "bad-keys": {
      perSecond: 100,
      maxInFlight: 8,
      send: (n) => status(request("/api/v1/links", { "x-api-key": `ll_${n.toString().padStart(32, "0")}` })),
    },
    ready: { perSecond: 100, maxInFlight: 8, send: () => status(request("/health/ready")) },
  };
}

/** Requests live updates of the most visited link and never reads them, until the service closes the connection. */
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
    // The service has not closed the connection within the phase.
    setTimeout(() => {
      socket.destroy();
      resolve("still stalled");
    }, 25_000).unref();
  });
}
