// What the bare servers of the benchmarks share: they listen on loopback and live as long as the benchmark that forked them.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Sends `{ url }` to the parent when the server listens. `answer`: what each message of the parent is answered with. */
export function serveParent(server: Server, answer?: () => object): void {
  server.listen(0, "127.0.0.1", () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
  if (answer) process.on("message", () => process.send?.(answer()));
  process.once("disconnect", () => process.exit(0));
}
