// The 301 of the servers of plain node:http, with the headers that Fastify's baseline sends too.
import type { ServerResponse } from "node:http";

export function answerMoved(response: ServerResponse): void {
  response
    .writeHead(301, {
      location: "https://example.com/landing/page?utm_source=bench",
      "cache-control": "private, max-age=0, must-revalidate",
      "content-length": 0,
    })
    .end();
}
