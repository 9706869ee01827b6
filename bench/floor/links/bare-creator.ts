// The least that creates a link from a JSON POST, appends its event with an fsync and indexes it: node:http and two threads.
// Sends its URL to the parent when it listens, and the links that are in the log and in the index whenever it is asked.
import { hash, randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { serveParent } from "../../load/serve-parent.ts";
import type { Progress } from "../floor-process.ts";
import { startThread } from "../start-thread.ts";
import { linkCreated, newLink } from "./bare-events.ts";

type Order = { url?: string; links?: { url: string }[] };
type Answered = { response: ServerResponse; text: string; links: number };

const [folder = ""] = process.argv.slice(2);
const created: Progress = { answered: 0, appended: 0, counted: 0 };
const appending = startThread(new URL("append-thread.ts", import.meta.url), { name: "append", folder });
const indexing = startThread(new URL("index-thread.ts", import.meta.url), { name: "index", folder });
/** Slugs and events in turn, and the requests that they answer: sent ones, and those that wait for the next message. */
let events: string[] = [];
let sent: Answered[] = [];
let waiting: Answered[] = [];
let isAppending = false;
let isDue = false;

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => create(body, String(request.headers["x-api-key"]), response));
});

function create(body: string, key: string, response: ServerResponse): void {
  const order = JSON.parse(body) as Order;
  const keyId = hash("sha256", key, "hex").slice(0, 16);
  const at = new Date().toISOString();
  const answers = (order.links ?? [order as { url: string }]).map(({ url }) => {
    // Eight, as of half a million slugs of five bytes two were the same in every tenth run.
    const slug = randomBytes(8).toString("hex");
    const link = newLink(slug, new URL(url).href, keyId, at);
    events.push(slug, linkCreated(link));
    return { short_url: link.shortUrl, slug, long_url: link.longUrl, created_at: at };
  });
  waiting.push({ response, text: JSON.stringify(answers), links: answers.length });
  if (isAppending || isDue) return;
  isDue = true;
  setImmediate(send);
}

/** What came while the thread appended goes in one message, for one fsync. */
function send(): void {
  isDue = false;
  isAppending = true;
  appending.postMessage(events);
  events = [];
  [sent, waiting] = [waiting, []];
}

appending.on("message", (links: number) => {
  created.appended += links;
  isAppending = false;
  for (const { response, text, links } of sent) {
    created.answered += links;
    response.writeHead(201, { "content-type": "application/json", "content-length": text.length }).end(text);
  }
  sent = [];
  if (waiting.length > 0) send();
});
indexing.on("message", (links: number) => {
  created.counted += links;
});

serveParent(server, () => created);
