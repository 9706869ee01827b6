export type AccountStreams = {
  /** Undefined when a limit is reached. The caller must pass the controller to `leave` in the end. */
  enter(accountId: string): AbortController | undefined;
  leave(accountId: string, stream: AbortController): void;
  /** Aborts all of them; `enter` refuses from then on. */
  close(): void;
};

export function accountStreams(mostPerAccount: number, mostInAll: number): AccountStreams {
  const open = new Map<string, Set<AbortController>>();
  let inAll = 0;
  let closed = false;
  return {
    enter(accountId) {
      const streams = open.get(accountId) ?? new Set();
      if (closed || streams.size >= mostPerAccount || inAll >= mostInAll) return undefined;
      const stream = new AbortController();
      open.set(accountId, streams.add(stream));
      inAll += 1;
      return stream;
    },
    leave(accountId, stream) {
      stream.abort();
      const streams = open.get(accountId);
      if (streams?.delete(stream)) inAll -= 1;
      if (streams?.size === 0) open.delete(accountId);
    },
    close() {
      closed = true;
      for (const streams of open.values()) for (const stream of streams) stream.abort();
    },
  };
}
