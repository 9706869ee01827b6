// A port of loopback that nobody listens on.
import { once } from "node:events";
import { createServer } from "node:net";

/** Free a moment ago: whoever is started on it should be started at once. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no TCP port to be had");
  return address.port;
}
