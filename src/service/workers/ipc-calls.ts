// Calls between the primary process and a worker, in both directions, over the channel that node:cluster opens.
import { CoordinationUnavailable } from "../../stores/connections/errors.ts";

type Method = (...args: never[]) => Promise<unknown>;
type Call = { call: number; method: string; args: readonly unknown[] };
type Answer = { answer: number; value?: unknown; failure?: string };

export type Channel = {
  send(message: Call | Answer): void;
  onMessage(receive: (message: unknown) => void): void;
};

export type IpcCalls = {
  /**
   * Arguments and results are JSON. Rejects when the other side's method throws, and with CoordinationUnavailable after
   * `end` or without an answer in time.
   */
  call(method: string, ...args: unknown[]): Promise<unknown>;
  /** Rejects calls that wait for an answer, and all later ones; to be called when the other side has gone. */
  end(): void;
};

/** Longer than the primary takes for the metrics of all workers; only a process that is paused takes longer. */
const ANSWER_WITHIN_MS = 5_000;

/** Answers the other side's calls with `methods`. Messages of other senders on the channel are ignored. */
export function ipcCalls(channel: Channel, methods: Readonly<Record<string, Method>>): IpcCalls {
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastCall = 0;
  let hasEnded = false;

  const perform = async ({ call, method, args }: Call) => {
    try {
      const run = methods[method];
      if (!run) throw new Error(`There is no ${method} here`);
      channel.send({ answer: call, value: await run(...(args as never[])) });
    } catch (error) {
      channel.send({ answer: call, failure: String(error) });
    }
  };
  const settle = ({ answer, value, failure }: Answer) => {
    const waiting = pending.get(answer);
    if (failure === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(failure));
  };
  channel.onMessage((message) => {
    if (typeof message !== "object" || message === null) return;
    if ("call" in message) void perform(message as Call);
    else if ("answer" in message) settle(message as Answer);
  });
  return {
    async call(method, ...args) {
      if (hasEnded) throw otherEnded();
      lastCall += 1;
      const call = lastCall;
      const waiting = Promise.withResolvers<unknown>();
      const timer = setTimeout(() => waiting.reject(otherSilent()), ANSWER_WITHIN_MS);
      pending.set(call, waiting);
      channel.send({ call, method, args });
      return await waiting.promise.finally(() => {
        clearTimeout(timer);
        pending.delete(call);
      });
    },
    end() {
      hasEnded = true;
      for (const { reject } of pending.values()) reject(otherEnded());
    },
  };
}

function otherEnded(): CoordinationUnavailable {
  return new CoordinationUnavailable("The other process of --workers has ended");
}

function otherSilent(): CoordinationUnavailable {
  return new CoordinationUnavailable("The other process of --workers does not answer");
}
