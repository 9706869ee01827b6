// A real HTTP or HTTPS receiver of webhooks on loopback, which writes down what it was sent.
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export type ReceivedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Names as they were written, in their order. */
  headerNames: string[];
  body: Buffer;
};

export type Receiver = {
  port: number;
  received: ReceivedRequest[];
  /** TCP connections that were ever made to it. */
  connections(): number;
};

export type AnswerRequest = (response: ServerResponse, request: ReceivedRequest) => void;

/** Answers 200 with a JSON acknowledgement unless `answer` does otherwise; closed when the test is over. */
export async function startReceiver(
  options: { answer?: AnswerRequest; tls?: { key: string; cert: string } } = {},
): Promise<Receiver> {
  const received: ReceivedRequest[] = [];
  const answer = options.answer ?? acknowledge;
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "", url = "", headers, rawHeaders } = request;
    const headerNames = rawHeaders.filter((_, index) => index % 2 === 0);
    const item = { method, path: url, headers, headerNames, body: Buffer.concat(chunks) };
    received.push(item);
    answer(response, item);
  };
  const server = options.tls ? createTlsServer(options.tls, listener) : createServer(listener);
  let connections = 0;
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, received, connections: () => connections };
}

export function acknowledge(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" }).end('{"received":true}');
}
