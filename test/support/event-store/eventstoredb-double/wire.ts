// A TCP way to the double that tests can cut or close, as a network or a dying server does.
import { once } from "node:events";
import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from "node:net";

export class Wire {
  readonly #target: number;
  readonly #host: string;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  port = 0;
  /** Connections taken so far. */
  accepted = 0;

  constructor(target: number, host = "127.0.0.1") {
    this.#target = target;
    this.#host = host;
  }

  /** Takes connections, on the same port as before. */
  async open(): Promise<void> {
    const server = createServer((socket) => this.#forward(socket));
    server.listen(this.port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  /** Every connection is lost without a word; new ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Every connection is lost and new ones are refused, until it is opened again. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = once(server, "close");
    server.close();
    this.cut();
    await closed;
  }

  #forward(socket: Socket): void {
    this.accepted += 1;
    const onward = dial(this.#target, this.#host);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one);
      one.setNoDelay(true);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
