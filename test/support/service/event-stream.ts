// Reads server-sent events as a browser would, for tests: message by message, with the id to come back with.
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";

export type Message = { event: string; id: string | undefined; data: Record<string, unknown> };

export type EventStream = {
  status: number;
  /** The next message of this name, others passed over; undefined when the stream has ended. */
  next(name: string): Promise<Message | undefined>;
  /** Of the last message that had one. */
  lastId(): string | undefined;
  close(): void;
};

export async function eventStream(
  port: number,
  path: string,
  headers: Record<string, string>,
): Promise<EventStream> {
  const { request, response } = await open(port, path, {
    host: "localhost",
    accept: "text/event-stream",
    ...headers,
  });
  const lines = textOf(response);
  let text = "";
  let lastId: string | undefined;
  return {
    status: response.statusCode ?? 0,
    async next(name) {
      for (;;) {
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const message = messageOf(text.slice(0, end));
          text = text.slice(end + 2);
          lastId = message.id ?? lastId;
          if (message.event === name) return message;
        }
        const more = await lines.next();
        if (more.done) return undefined;
        text += more.value;
      }
    },
    lastId: () => lastId,
    close: () => request.destroy(),
  };
}

async function* textOf(response: IncomingMessage): AsyncGenerator<string> {
  response.setEncoding("utf8");
  try {
    for await (const chunk of response) yield String(chunk);
  } catch {
    // The test closed it, or the service was stopped: the stream has ended.
  }
}

function open(
  port: number,
  path: string,
  headers: Record<string, string>,
): Promise<{ request: ClientRequest; response: IncomingMessage }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, path, headers, agent: false });
    request.on("response", (response) => resolve({ request, response }));
    request.on("error", reject);
    request.end();
  });
}

function messageOf(text: string): Message {
  const fields = new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith(":"))
      .map((line) => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), line.slice(colon + 2)];
      }),
  );
  const data = JSON.parse(fields.get("data") ?? "{}") as Record<string, unknown>;
  return { event: fields.get("event") ?? "", id: fields.get("id"), data };
}
