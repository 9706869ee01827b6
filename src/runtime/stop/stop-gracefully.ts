// Stops a process on signals and errors, once: npm passes on a Ctrl-C that the terminal has sent to the process as well.
import closeWithGrace from "close-with-grace";

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** What shells, terminals and systemd send to a whole process group. */
const GROUP_SIGNALS = ["SIGHUP", "SIGQUIT", ...STOP_SIGNALS] as const;
/** Signals within this time after the first are the same wish. */
const SAME_WISH_MS = 1_000;

/** `ms`: the process is ended after them. `ignoresSignals`: for a process that another one stops, by the answer. */
type Options = { ms: number; ignoresSignals?: boolean; skip?: "beforeExit"[] };
type Why = { signal?: string | undefined; err?: Error | undefined };

/** `stop` is called once; a signal a second after the first ends the process immediately. Returns what calls `stop` too. */
export function stopGracefully(
  { ms, ignoresSignals = false, skip = [] }: Options,
  stop: (why: Why) => Promise<void>,
): () => void {
  let first: { signal: string; at: number } | undefined;
  const ours = ignoresSignals ? GROUP_SIGNALS : STOP_SIGNALS;
  const { close } = closeWithGrace(
    { delay: ms, logger: false, skip: [...skip, ...ours] },
    ({ signal = first?.signal, err }) => stop({ signal, err }),
  );
  for (const signal of ours)
    process.on(signal, () => {
      if (ignoresSignals) return;
      const at = performance.now();
      if (first && at - first.at > SAME_WISH_MS) process.exit(1);
      if (first) return;
      first = { signal, at };
      close();
    });
  return close;
}
