// A mail server for tests: accepts every mail over SMTP and returns the received ones in order.
import { once } from "node:events";
import { createServer, type Socket } from "node:net";

export type ReceivedMail = { to: string; text: string };

export type MailReceiver = Awaited<ReturnType<typeof startMailReceiver>>;

/** `refuse`: rejects every recipient with 550 and a message that contains the address, as real servers do. */
export async function startMailReceiver(options = { refuse: false }) {
  const taken: ReceivedMail[] = [];
  const waiting: ((mail: ReceivedMail) => void)[] = [];
  const server = createServer((socket) =>
    converse(socket, options.refuse, (mail) => {
      const next = waiting.shift();
      if (next) next(mail);
      else taken.push(mail);
    }),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `smtp://127.0.0.1:${port}`,
    /** Number of received mails that `next` has not returned yet. */
    waitingMails: () => taken.length,
    next: async (): Promise<ReceivedMail> =>
      taken.shift() ?? (await new Promise<ReceivedMail>((resolve) => waiting.push(resolve))),
    async stop() {
      server.close();
      await once(server, "close");
    },
  };
}

/** The first URL of the portal in a mail, as path and query. */
export function linkIn({ text }: ReceivedMail): string {
  const path = /https?:\/\/[^/\s]+(\/portal\S+)/.exec(text)?.[1];
  if (!path) throw new Error(`no link in this mail:\n${text}`);
  return path;
}

function converse(socket: Socket, refuse: boolean, take: (mail: ReceivedMail) => void): void {
  let buffered = "";
  let to = "";
  let body: string[] | undefined;
  const say = (line: string) => socket.write(`${line}\r\n`);
  socket.on("error", () => socket.destroy());
  say("220 receiver ready");
  socket.on("data", (chunk) => {
    buffered += chunk.toString();
    for (let end = buffered.indexOf("\r\n"); end >= 0; end = buffered.indexOf("\r\n")) {
      const line = buffered.slice(0, end);
      buffered = buffered.slice(end + 2);
      if (body) {
        if (line !== ".") {
          body.push(line);
          continue;
        }
        take({ to, text: decodeQuotedPrintable(body) });
        body = undefined;
        say("250 taken");
      } else if (/^RCPT/i.test(line)) {
        to = /<(.*)>/.exec(line)?.[1] ?? "";
        say(refuse ? `550 no mailbox here for <${to}>` : "250 ok");
      } else if (/^DATA/i.test(line)) {
        body = [];
        say("354 go on");
      } else if (/^QUIT/i.test(line)) {
        say("221 bye");
        socket.end();
      } else say("250 ok");
    }
  });
}

function decodeQuotedPrintable(lines: readonly string[]): string {
  const bytes = lines
    .join("\n")
    .replace(/=\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}
