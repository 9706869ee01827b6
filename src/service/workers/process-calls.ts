// Calls between the primary process and a worker, in both directions, over the channel that node:cluster opens.
import { inTime } from "../../runtime/pause.ts";
import { Calls, type Message } from "../../runtime/threads/calls.ts";
import { CoordinationUnavailable } from "../../stores/connections/errors.ts";

type Methods = Readonly<Record<string, () => Promise<unknown>>>;

export type ProcessCalls = {
  /** Rejects when the other side's method throws, and with CoordinationUnavailable when it ends or doesn't answer in time. */
  call(method: string): Promise<unknown>;
  /** Rejects calls that wait for an answer, and all later ones; to be called when the other side has gone. */
  end(): void;
};

/** Longer than the primary takes for the metrics of all workers; only a process that is paused takes longer. */
const ANSWER_WITHIN_MS = 5_000;

/** Answers the other side's calls with `methods`. Of the channel's messages, those of other senders are ignored. */
export function processCalls(
  channel: {
    send(messages: Message[]): void;
    onMessage(receive: (message: unknown) => void): void;
  },
  methods: Methods,
): ProcessCalls {
  const unavailable = (message: string, cause?: unknown) => new CoordinationUnavailable(message, { cause });
  const calls = new Calls(
    {
      send: channel.send,
      onMessages: (receive) =>
        channel.onMessage((message) => void (Array.isArray(message) && receive(message))),
    },
    { process: () => methods },
    unavailable,
  );
  return {
    async call(method) {
      const answer = calls.call("process", method, []).then((value) => ({ value }));
      const answered = await inTime(ANSWER_WITHIN_MS, answer);
      if (!answered) throw unavailable("The other process of --workers does not answer");
      return answered.value;
    },
    end: () => calls.end(unavailable("The other process of --workers has ended")),
  };
}
