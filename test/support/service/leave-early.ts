// Clients that disconnect before their answer begins: a store call that the route waits for is held up until then.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type ServerResponse, request as sendRequest } from "node:http";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { until } from "../runtime/until.ts";

/** Sends the request `count` times; resolves when the service, in this process, goes on after all clients have left. */
export async function leaveEarly(
  eventStore: EventStore,
  held: "head" | "read",
  request: { port: number; path: string; headers: Record<string, string> },
  count: number,
): Promise<void> {
  const original = eventStore[held];
  const released = Promise.withResolvers<void>();
  let waiting = 0;
  const responses: ServerResponse[] = [];
  const onRequest = (message: unknown) => {
    responses.push((message as { response: ServerResponse }).response);
  };
  subscribe("http.server.request.start", onRequest);
  Object.assign(eventStore, {
    async [held](...args: never[]) {
      waiting += 1;
      await released.promise;
      return await (original as (...args: never[]) => unknown).apply(eventStore, args);
    },
  });
  try {
    const clients = Array.from({ length: count }, () =>
      sendRequest({ host: "127.0.0.1", agent: false, ...request }).on("error", () => undefined),
    );
    for (const client of clients) client.end();
    await until("all requests to be held up", () => waiting >= count);
    for (const client of clients) client.destroy();
    await until("the service to have seen all clients leave", () =>
      responses.every(({ destroyed }) => destroyed),
    );
  } finally {
    unsubscribe("http.server.request.start", onRequest);
    Object.assign(eventStore, { [held]: original });
    released.resolve();
  }
}
