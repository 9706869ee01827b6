// The HTTP server: answers redirects immediately, and queues other requests until the whole program is loaded.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { type AddressInfo, isIPv6, Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { canonicalHost } from "../../runtime/addresses/host-name.ts";
import type { Handle, HandleRequest } from "./handler.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTION_TIMEOUT_MS = 60_000;
/** Fastify's default: longer than the idle timeout of common load balancers. */
const KEEP_ALIVE_MS = 72_000;
/** For one request more on each connection when the server closes, so that its client reads that it is the last. */
const LAST_REQUESTS_MS = 250;
const CUT_IDLE_EVERY_MS = 50;

export type HttpServer = {
  /** Resolves to the URL, such as http://127.0.0.1:3000. @throws what Node's server emits, such as EADDRINUSE */
  listen(where: { port: number; host: string }): Promise<string>;
  /** Passes every request that is no redirect to `handle`, queued ones first. */
  passTo(handle: Handle): void;
  /**
   * Resolves when open requests are answered; requests that are still queued are dropped. Requests that come meanwhile
   * on connections that are open are answered, too, with `connection: close`.
   */
  close(): Promise<void>;
};

/**
 * `redirect`: undefined without the role. `readForwarded`: prepares the headers for both (requester.ts).
 */
export function httpServer(
  redirect: HandleRequest | undefined,
  readForwarded: (headers: IncomingHttpHeaders) => void,
): HttpServer {
  const loaded = Promise.withResolvers<Handle>();
  let handle: Handle = (request, response) => {
    loaded.promise.then(
      (loadedHandle) => loadedHandle(request, response),
      () => response.destroy(),
    );
  };
  const passOn: Handle = (request, response) => handle(request, response);
  const answer: Handle = (request, response) => {
    if (!isAddressedOnce(request)) return refuseConnection(new Error("Host"), request.socket);
    if (!server.listening) response.setHeader("connection", "close");
    readForwarded(request.headers);
    if (redirect?.(request, response, passOn)) return;
    passOn(request, response);
  };
  const options = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Refused in `answer`, because Node would send no body.
    requireHostHeader: false,
  };
  const server = createServer(options, answer);
  server.setTimeout(CONNECTION_TIMEOUT_MS).on("clientError", refuseConnection);
  // An expectation may be ignored (RFC 9110, 10.1.1); Node would answer 417 without a body.
  server.on("checkExpectation", answer);
  return {
    async listen(where) {
      server.listen(where);
      await once(server, "listening");
      return urlOf(server.address() as AddressInfo);
    },
    passTo(next) {
      handle = next;
      loaded.resolve(next);
    },
    async close() {
      loaded.promise.catch(() => undefined);
      loaded.reject(new Error("The server was closed before the program was loaded"));
      if (!server.listening) return;
      const closed = once(server, "close");
      // That of HTTP servers would first cut connections on which a request may be on its way.
      Server.prototype.close.call(server);
      await Promise.race([closed, delay(LAST_REQUESTS_MS)]);
      const cutting = setInterval(() => server.closeIdleConnections(), CUT_IDLE_EVERY_MS);
      server.closeIdleConnections();
      await closed.finally(() => clearInterval(cutting));
    },
  };
}

/**
 * RFC 9112, 3.2: one Host header, which of an absolute target says the same, or what stands before us and we could take
 * the request for another host's. Node keeps the first of several. HTTP/1.0 needs none.
 */
function isAddressedOnce({ rawHeaders, headers, url = "", httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let n = 0; n < rawHeaders.length; n += 2)
    if (rawHeaders[n]?.length === 4 && rawHeaders[n]?.toLowerCase() === "host") hosts++;
  if (hosts !== 1) return hosts === 0 && httpVersion === "1.0";
  const target = url.startsWith("/") ? null : /^https?:\/\/([^/?#]*)/i.exec(url);
  return target === null || canonicalHost(target[1] ?? "") === canonicalHost(headers.host ?? "");
}

/** The URL of the server; with the loopback address if it listens on all addresses. */
function urlOf({ address, port }: AddressInfo): string {
  const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** Answers connections whose bytes are not a valid HTTP request, for which Fastify creates no request object. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, text] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? ["431 Request Header Fields Too Large", "The address or the headers are too long"]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["408 Request Timeout", "The request took too long to arrive"]
        : ["400 Bad Request", "This is not a valid HTTP request"];
  const body = JSON.stringify({ error: text, code: "invalid_http", request_id: "" });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
