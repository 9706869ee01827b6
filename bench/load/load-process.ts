// The load generator's process: keeps its connections busy, or sends at a rate, until an order's time is over and
// everything is answered.
import { connect, type Socket } from "node:net";
import { createHistogram } from "node:perf_hooks";
import type { LoadOrder, LoadResult } from "./load.ts";
import { requestsOf } from "./requests.ts";

const CONNECTIONS = 50;
const RECONNECT_AFTER_MS = 10;
const END_OF_HEAD = "\r\n\r\n";

/** A keep-alive connection, and when its request in flight was due; undefined while it is idle. */
type Client = { socket: Socket; received: string; dueAt: number | undefined };

process.on("message", async (order: LoadOrder) => process.send?.(await loadRun(order)));
process.once("disconnect", () => process.exit(0));

async function loadRun(order: LoadOrder): Promise<LoadResult> {
  const { rate, seconds, amount = Number.POSITIVE_INFINITY } = order;
  const { hostname, port } = new URL(order.url);
  const nextRequest = requestsOf(order.traffic, order.seed);
  const micros = createHistogram();
  const counts = { answered: 0, other: 0, errors: 0 };
  const clients = new Set<Client>();
  const idle: Client[] = [];
  const { promise: drained, resolve: onDrained } = Promise.withResolvers<void>();
  const startedAt = performance.now();
  let [sent, lastAt, ended] = [0, startedAt, false];

  const addClient = () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const client: Client = { socket, received: "", dueAt: undefined };
    socket.setEncoding("latin1");
    socket.on("data", (text) => receive(client, String(text)));
    socket.on("error", () => {});
    socket.on("close", () => onGone(client));
    clients.add(client);
    idle.push(client);
  };
  /** With a rate, a request that finds no idle connection is sent late, and its latency counts from when it was due. */
  const sendDue = () => {
    const now = performance.now();
    if (sent >= amount || now - startedAt >= seconds * 1000) ended = true;
    const due = rate === undefined ? amount : Math.min(amount, ((now - startedAt) / 1000) * rate);
    while (!ended && idle.length > 0 && sent < due) {
      const client = idle.shift() as Client;
      client.dueAt = rate === undefined ? now : startedAt + (sent / rate) * 1000;
      sent += 1;
      client.socket.write(nextRequest(), "latin1");
    }
    if (ended && idle.length === clients.size) onDrained();
  };
  const receive = (client: Client, text: string) => {
    client.received += text;
    const status = wholeAnswer(client.received);
    // Nothing that is measured answers in chunks, so they count as an error.
    if (status === "chunked") client.socket.destroy();
    if (typeof status !== "number") return;
    client.received = "";
    lastAt = performance.now();
    micros.record(Math.max(1, Math.round((lastAt - (client.dueAt ?? lastAt)) * 1000)));
    counts[status === order.expect ? "answered" : "other"] += 1;
    client.dueAt = undefined;
    idle.push(client);
    sendDue();
  };
  const onGone = (client: Client) => {
    if (client.dueAt !== undefined) counts.errors += 1;
    clients.delete(client);
    if (idle.includes(client)) idle.splice(idle.indexOf(client), 1);
    if (!ended) setTimeout(addClient, RECONNECT_AFTER_MS);
    else sendDue();
  };

  for (let n = 0; n < CONNECTIONS; n++) addClient();
  const timer = setInterval(sendDue, 1);
  await drained;
  clearInterval(timer);
  for (const { socket } of clients) socket.destroy();
  const took = (lastAt - startedAt) / 1000;
  const [p50, p99] = [50, 99].map((percent) => micros.percentile(percent) / 1000) as [number, number];
  return { ...counts, seconds: took, rate: (counts.answered + counts.other) / took, p50, p99 };
}

/** The status of an answer that is complete. */
function wholeAnswer(received: string): number | "chunked" | "incomplete" {
  const headEnd = received.indexOf(END_OF_HEAD);
  if (headEnd < 0) return "incomplete";
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, headEnd))?.[1];
  if (length === undefined) return "chunked";
  const isWhole = received.length >= headEnd + END_OF_HEAD.length + Number(length);
  return isWhole ? Number(received.slice(9, 12)) : "incomplete";
}
