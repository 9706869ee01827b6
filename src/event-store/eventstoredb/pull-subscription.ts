// A filtered subscription to the log, opened the same way with both clients.
import type { EventPull } from "./driver.ts";
import { Pull, type PullOptions } from "./pull.ts";

/** Events that the server looks through before it answers, matching or not. */
export const SEARCH_WINDOW = 1000;

type Filter = { prefixes: string[]; maxSearchWindow: number; checkpointReached: () => Promise<void> };

type Subscription = ConstructorParameters<typeof Pull>[0] & {
  on(event: "caughtUp", listener: () => void): unknown;
  unsubscribe(): Promise<void>;
  destroy(): unknown;
};

export function pullSubscription(
  open: (filter: Filter) => Subscription,
  prefixes: readonly string[],
  typed: PullOptions["typed"],
): EventPull {
  let pull: Pull | undefined;
  const subscription = open({
    prefixes: [...prefixes],
    maxSearchWindow: SEARCH_WINDOW,
    // Must never reject: the stream would stall for good.
    checkpointReached: async () => pull?.alive(),
  });
  pull = new Pull(subscription, { typed, cancel: () => unsubscribe(subscription) });
  subscription.on("caughtUp", () => pull?.alive());
  return pull;
}

/** Leaving the loop doesn't end the call on the server, this does; it may have no connection to end it on. */
function unsubscribe(subscription: Subscription): void {
  subscription
    .unsubscribe()
    .catch(() => {})
    .finally(() => subscription.destroy());
}
