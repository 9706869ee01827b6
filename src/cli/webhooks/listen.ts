// linkledger webhook listen: forwards what a webhook is sent to a program on this machine, which the service can't reach.
import { InvalidArgumentError } from "commander";
import { LinkledgerError } from "../../../sdk/src/errors.js";
import { followStream } from "../../../sdk/src/events.js";
import { Refused } from "../../commands/refusals.ts";
import { commaSeparated } from "../../config/formats.ts";
import { Failure, messageOf } from "../../runtime/errors.ts";
import { type CommandRow, option, required } from "../command.ts";
import { type Call, withoutStores } from "../session.ts";

/** As the service waits for a receiver. */
const ANSWER_MS = 15_000;

type Listening = { forward: string; from?: string; after?: string; events?: string[] };
type Delivery = { id: string; event: string; headers: Record<string, string>; body: string };

export const listenCommand: CommandRow = {
  name: "listen <webhook>",
  about: "forward what a webhook is sent to a program here, until Ctrl-C",
  remark: `LINKLEDGER_KEY is an API key of the webhook's account, with the scope events:read; WEBHOOK_KEY the webhook's own, for
receivers that compare X-API-Key. Signatures are the service's, of the moment at which it tells the delivery here, as with each
try, also of what was before (--after): the event's own time is "timestamp" in its body. What the program refuses is told, and not sent again; where
the connection breaks, it goes on without a gap. A webhook whose own URL is nowhere yet can be paused meanwhile.`,
  args: { webhook: "its id" },
  options: [
    required("--forward <url>", "where deliveries go, such as http://localhost:4000/hook", address),
    option("--from <url>", "the service's address; LINKLEDGER_URL by default", address),
    option("--events <list>", "only these of those that it is told of, comma separated", commaSeparated),
    option("--after <position>", "what was sent since then, too: as an earlier run said"),
  ],
  json: false,
  by: withoutStores,
  async run({ terminal, work }: Call, { forward, from, after, events = [] }: Listening, webhookId: string) {
    const { LINKLEDGER_URL = "http://localhost:3000", LINKLEDGER_KEY: key, WEBHOOK_KEY } = terminal.env;
    if (!key) throw new Refused("invalid_key", "LINKLEDGER_KEY is to be an API key of the webhook's account");
    const service = { baseUrl: (from ?? LINKLEDGER_URL).replace(/\/+$/, ""), key, fetch: globalThis.fetch };
    const query = events.length > 0 ? `?${new URLSearchParams({ events: events.join() })}` : "";
    const path = `/api/v1/webhooks/${encodeURIComponent(webhookId)}/deliveries/stream${query}`;
    let [position, delivered, refused] = [after, 0, 0];
    const outcome = () =>
      `${delivered} delivered, ${refused} refused${position === undefined ? "" : `; go on by --after ${position}`}`;
    const unread = new AbortController();
    terminal.stdout.once("error", () => unread.abort());
    await work
      .interruptible(outcome, async () => {
        terminal.stderr.write(`Forwarding the deliveries of ${webhookId} to ${forward}; Ctrl-C ends it\n`);
        const messages = followStream(service, path, {
          ...(after !== undefined && { after }),
          signal: AbortSignal.any([work.signal, unread.signal]),
        });
        for await (const message of messages) {
          const delivery = message.data as Delivery;
          const answer = await forwarded(forward, delivery, WEBHOOK_KEY);
          position = message.position;
          if (answer.isSuccess) delivered += 1;
          else refused += 1;
          terminal.stdout.write(`${delivery.event} ${delivery.id} ${answer.words}\n`);
        }
        work.signal.throwIfAborted();
      })
      .catch(asRefusal);
    return undefined;
  },
};

async function forwarded(url: string, { headers, body }: Delivery, key: string | undefined) {
  try {
    const response = await fetch(url, {
      ...{ method: "POST", redirect: "manual", body },
      headers: { ...headers, ...(key && { "X-API-Key": key }) },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await response.body?.cancel();
    return { isSuccess: response.ok, words: String(response.status) };
  } catch (error) {
    return { isSuccess: false, words: messageOf((error as Error).cause ?? error) };
  }
}

/** What the service refuses is no fault of the program. */
function asRefusal(error: unknown): never {
  if (error instanceof LinkledgerError) throw new Failure(error.message);
  throw error;
}

function address(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text;
  throw new InvalidArgumentError("It must be an http or https address.");
}
