// The 301 of the servers of plain node:http, with the headers that Fastify's baseline sends too.
import type { ServerResponse } from "node:http";

const LANDING = "https://example.com/landing/page?utm_source=bench";

export function answerMoved(response: ServerResponse, location = LANDING): void {
  response
    .writeHead(301, {
      location,
      "cache-control": "private, max-age=0, must-revalidate",
      "content-length": 0,
    })
    .end();
}
