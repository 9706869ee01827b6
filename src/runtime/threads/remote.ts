// What another thread or process serves, as an object of the caller's own.
import type { Calls } from "./calls.ts";

/** For async methods whose arguments can be sent; a signal as the last one cancels the call. */
export function remoteMethods<T extends object, M extends keyof T & string>(
  calls: Pick<Calls, "call">,
  object: string,
  methods: readonly M[],
): Pick<T, M> {
  const remote = methods.map((method) => [
    method,
    (...args: unknown[]) => {
      const signal = args.at(-1);
      return signal instanceof AbortSignal
        ? calls.call(object, method, args.slice(0, -1), signal)
        : calls.call(object, method, args);
    },
  ]);
  return Object.fromEntries(remote) as Pick<T, M>;
}

/** For streaming methods, whose last argument is the signal. */
export function remoteStreams<T extends object, M extends keyof T & string>(
  calls: Pick<Calls, "stream">,
  object: string,
  methods: readonly M[],
): Pick<T, M> {
  const remote = methods.map((method) => [
    method,
    (...args: unknown[]) => calls.stream(object, method, args.slice(0, -1), args.at(-1) as AbortSignal),
  ]);
  return Object.fromEntries(remote) as Pick<T, M>;
}
