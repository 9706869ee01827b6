// One keep-alive HTTP/1.1 connection of the load generator: sends a request, and reports status and body of its answer.
import { connect, type Socket } from "node:net";

const END_OF_HEAD = "\r\n\r\n";

export type Answer = { status: number; body: string };

export class Connection {
  readonly #socket: Socket;
  readonly #onAnswer: (answer: Answer) => void;
  #received = "";

  /** `onGone`: called once, when the connection was closed, by whichever side. */
  constructor(url: URL, onAnswer: (answer: Answer) => void, onGone: () => void) {
    this.#onAnswer = onAnswer;
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", (text) => this.#receive(text as unknown as string));
    this.#socket.on("error", () => {});
    this.#socket.on("close", onGone);
  }

  /** The next request may be sent when this one was answered. */
  send(request: string): void {
    this.#socket.write(request, "latin1");
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf(END_OF_HEAD);
    if (headEnd < 0) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#received.slice(0, headEnd))?.[1];
    // Nothing that is measured answers in chunks, so they count as an error.
    if (length === undefined) {
      this.close();
      return;
    }
    const bodyStart = headEnd + END_OF_HEAD.length;
    if (this.#received.length < bodyStart + Number(length)) return;
    const answer = { status: Number(this.#received.slice(9, 12)), body: this.#received.slice(bodyStart) };
    this.#received = "";
    this.#onAnswer(answer);
  }
}
