// The abusive clients: each kind of abuse at its rate for the ordered time, and counts of what was answered.
import { connect } from "node:net";
import { setPriority } from "node:os";
import { pause } from "../../src/runtime/pause.ts";
import { send as sendRequest } from "../../test/support/service/ask.ts";
import { benchSlug } from "../load/requests.ts";

export type AbuseOrder = {
  port: number;
  seconds: number;
  /** Cookie of a signed-in Free account with many links. */
  free: string;
  /** API key of the Developer account that owns the visited links. */
  watcher: string;
};

/** Number of responses by status code, or by error message, of each kind of abuse. */
export type AbuseCounts = Record<string, Record<string, number>>;

/** `perSecond`: requests started a second; `inFlight`: at most, which bounds those that wait for a slow service. */
type Abuse = { perSecond: number; inFlight: number; send: (n: number) => Promise<string | number> };

/** Client address of the abuse, sent as X-Forwarded-For, which the service trusts from loopback. */
const ABUSER = "198.51.100.66";
const WATCHERS = 10;
const LAST_ANSWERS_MS = 5_000;

/** The work of the abusers themselves is done on the same cores here, but it is not what redirects are to withstand. */
setPriority(10);

process.on("message", async (order: AbuseOrder) => {
  const until = performance.now() + order.seconds * 1_000;
  const kinds = Object.entries(abuses(order));
  const counts = await Promise.all(
    kinds.map(async ([name, abuse]) => [name, await repeat(abuse, until)] as const),
  );
  process.send?.(Object.fromEntries(counts));
});
process.once("disconnect", () => process.exit(0));

function abuses({ port, free, watcher }: AbuseOrder): Record<string, Abuse> {
  const ask = (path: string, headers: Record<string, string> = {}, fields?: Record<string, string>) =>
    sendRequest<unknown>(port, path, {
      method: fields ? "POST" : "GET",
      headers: {
        ...{ "x-forwarded-for": ABUSER, accept: "*/*", ...headers },
        ...(fields && { "content-type": "application/x-www-form-urlencoded" }),
      },
      body: fields && new URLSearchParams(fields).toString(),
    });
  const asFree = { cookie: free };
  const status = async (answer: ReturnType<typeof ask>) => (await answer).status;
  const newKey = async (n: number) => {
    const issued = await ask("/portal/keys", asFree, { label: `key ${n}` });
    const { text } = await ask("/portal/keys", asFree);
    const deactivate = /action="(\/portal\/[^"]*keys\/[^"]+\/deactivate)"/.exec(text)?.[1];
    if (deactivate) await ask(deactivate, asFree, {});
    return issued.status;
  };
  const at = (perSecond: number, inFlight: number, send: Abuse["send"]) => ({ perSecond, inFlight, send });
  return {
    keys: at(100, 4, newKey),
    links: at(100, 8, (n) => status(ask("/portal/links", asFree, { url: `https://example.com/${n}` }))),
    "QR images": at(50, 16, () => status(ask(`/api/qr/${benchSlug(0)}?size=2048&margin=0&ecc=H`))),
    searches: at(50, 8, (n) => status(ask(`/portal/links?q=nowhere-${n}`, asFree))),
    exports: at(2, 2, () => status(ask("/portal/account/export", asFree))),
    "stalled event streams": at(WATCHERS, WATCHERS, () => stalledWatcher(port, watcher)),
    "unknown slugs": at(500, 16, (n) => status(ask(`/s${(n * 7919) % 1_000_000}${n}`))),
    passwords: at(20, 4, (n) =>
      status(ask("/portal/sign-in", {}, { email: "watcher@example.com", password: `guess ${n}` })),
    ),
    "wrong keys": at(100, 8, (n) =>
      status(ask("/api/v1/links", { "x-api-key": `ll_${n.toString().padStart(32, "0")}` })),
    ),
    readiness: at(100, 8, () => status(ask("/health/ready"))),
  };
}

/** Starts requests at the kind's rate; waits while its maximum is in flight. */
async function repeat({ perSecond, inFlight, send }: Abuse, until: number): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  const count = (answer: string | number) => {
    answers[answer] = (answers[answer] ?? 0) + 1;
  };
  const started = performance.now();
  const waiting = new Set<Promise<void>>();
  for (let n = 0; performance.now() < until; n += 1) {
    await pause(Math.max(0, started + (n * 1_000) / perSecond - performance.now()));
    if (waiting.size >= inFlight) await Promise.race(waiting);
    const one: Promise<void> = send(n)
      .then(count, (error: Error) => count(error.message))
      .finally(() => waiting.delete(one));
    waiting.add(one);
  }
  await Promise.race([Promise.all(waiting), pause(LAST_ANSWERS_MS)]);
  return answers;
}

/** Requests the stream of the account's events and reads no more than its head, until the service closes the connection. */
function stalledWatcher(port: number, key: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port }, () => {
      const headers = `host: localhost\r\nx-api-key: ${key}`;
      socket.write(`GET /api/v1/events/stream HTTP/1.1\r\n${headers}\r\n\r\n`);
    });
    socket.once("data", (head) => {
      socket.pause();
      const status = head.toString("latin1", 9, 12);
      if (status !== "200") resolve(status);
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
