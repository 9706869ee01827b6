// The floor of a redirect: node:http alone. Sends its URL to the parent when it listens.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((_request, response) => {
  response
    .writeHead(301, {
      location: "https://example.com/landing/page?utm_source=bench",
      "cache-control": "private, max-age=0, must-revalidate",
      "content-length": 0,
    })
    .end();
});
server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.once("disconnect", () => process.exit(0));
