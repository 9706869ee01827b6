// A port of loopback that nobody listens on.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that the kernel gives to connections and to servers on port 0 (from 32,768 on Linux, RFC 6335 from
 * 49,152): one of those can be taken again before the program that is to listen on it has started.
 */
const FIRST = 10_000;
const AFTER_LAST = 32_000;

/** One after the other, so that a test file gets no port twice; files that run at the same time begin elsewhere. */
let next = randomInt(FIRST, AFTER_LAST);

/** Free a moment ago: whoever is started on it should be started at once. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port + 1 < AFTER_LAST ? port + 1 : FIRST;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  const listens = await once(server, "listening").then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") return false;
      throw error;
    },
  );
  if (!listens) return false;
  server.close();
  await once(server, "close");
  return true;
}
