// The least that looks a link up, answers a 301, records the click with an fsync and counts it: node:http and two threads.
// Sends its URL to the parent when it listens, and the clicks that are in the log and in the documents when it is asked.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { answerMoved } from "../../baselines/answer-moved.ts";
import { serveParent } from "../../load/serve-parent.ts";
import type { Progress } from "../floor-process.ts";
import { startThread } from "../start-thread.ts";
import { type BareLink, openBareLinks } from "./bare-links.ts";
import { HIT_MEMBERS } from "./bare-log.ts";

type Redirect = { response: ServerResponse; link: BareLink };

/** Of our own recorder, too. */
const SEND_EVERY_MS = 10;
const SEND_AT_HITS = 256;

const [folder = "", durability, logUrl, prefix = ""] = process.argv.slice(2);
const isDurable = durability === "durable";
const recorded: Progress = { answered: 0, appended: 0, counted: 0 };
const databases = { folder, server: logUrl ? { url: logUrl, prefix } : undefined };
const appending = startThread(new URL("append-thread.ts", import.meta.url), { name: "append", ...databases });
const counting = startThread(new URL("count-thread.ts", import.meta.url), { name: "count", ...databases });
const linkOf = openBareLinks(folder);
let hits: string[] = [];
/** Durable ones, whose clicks are not in the log yet: those sent, and those that wait for the next message. */
let sent: Redirect[] = [];
let waiting: Redirect[] = [];
let isAppending = false;
let timer: NodeJS.Timeout | undefined;

const server = createServer(({ url = "", headers }, response) => {
  const link = linkOf(url);
  if (!link) return void response.writeHead(404, { "content-length": 0 }).end();
  addHit(url, headers);
  if (!isDurable) return answer({ response, link });
  waiting.push({ response, link });
  if (!isAppending) timer ??= setTimeout(send, 0);
});

function addHit(url: string, headers: IncomingHttpHeaders): void {
  const { "user-agent": userAgent = "", "accept-language": language = "", referer = "" } = headers;
  const address = String(headers["x-forwarded-for"]);
  hits.push(url, new Date().toISOString(), userAgent, language, referer, address);
  if (isDurable) return;
  if (hits.length >= HIT_MEMBERS * SEND_AT_HITS) send();
  else timer ??= setTimeout(send, SEND_EVERY_MS);
}

function send(): void {
  clearTimeout(timer);
  timer = undefined;
  appending.postMessage(hits);
  hits = [];
  [sent, waiting] = [waiting, []];
  isAppending = true;
}

function answer({ response, link }: Redirect): void {
  recorded.answered += 1;
  answerMoved(response, link.longUrl);
}

appending.on("message", (clicks: number) => {
  recorded.appended += clicks;
  isAppending = false;
  for (const redirect of sent) answer(redirect);
  sent = [];
  if (waiting.length > 0) send();
});
counting.on("message", (clicks: number) => {
  recorded.counted += clicks;
});

serveParent(server, () => recorded);
