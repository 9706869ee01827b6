// The HTTP server: answers redirects immediately, and queues other requests until the whole program is loaded.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, isIPv6, type Socket } from "node:net";
import type { Handle, HandleRequest } from "./redirect-handler.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTION_TIMEOUT_MS = 60_000;
/** Fastify's default: longer than the idle timeout of common load balancers. */
const KEEP_ALIVE_MS = 72_000;

export type HttpServer = {
  /** Resolves to the URL, such as http://127.0.0.1:3000. @throws what Node's server emits, such as EADDRINUSE */
  listen(where: { port: number; host: string }): Promise<string>;
  /** Passes every request that is no redirect to `handle`, queued ones first. */
  passTo(handle: Handle): void;
  /** Resolves when open requests are answered; requests that are still queued are dropped. */
  close(): Promise<void>;
};

/**
 * `redirect`: undefined without the role. While the server closes, all requests go to `handle`, which refuses
 * them. `readForwarded`: prepares the headers for both (requester.ts).
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
    if (request.headers.host === undefined && request.httpVersion === "1.1")
      return refuseConnection(new Error("No Host header"), request.socket);
    readForwarded(request.headers);
    if (server.listening && redirect?.(request, response, passOn)) return;
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
    passTo(given) {
      handle = given;
      loaded.resolve(given);
    },
    async close() {
      loaded.promise.catch(() => undefined);
      loaded.reject(new Error("The server was closed before the program was loaded"));
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
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
