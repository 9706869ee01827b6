// Redirects at a steady rate over real HTTP, not waiting for the answers of earlier ones, each with its own mark.
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../runtime/until.ts";

export type RedirectLoad = {
  /** Marks of the requests sent, answered with 301, and not. */
  sent: Set<string>;
  answered: Map<string, { at: number; ms: number }>;
  failed: Map<string, string>;
  /** Resolves when that many more than now are answered. */
  answeredMore(count: number): Promise<void>;
  /** What the machine itself was late with at the worst, as a tick of this process shows: no promise holds then. */
  longestStallMs(): number;
  /** Sends no more; resolves when every request has its answer. */
  stop(): Promise<void>;
};

const TICK_MS = 10;
/** Longer than any outage of a test: a request without an answer counts as failed then, and stop() can resolve. */
const TIMEOUT_MS = 30_000;
/** A machine that is slower than the rate gets what it can take, instead of a queue without end. */
const MOST_OPEN = 200;
/** Nobody comes for so long after a refused connection: a flood of those takes the machine from whoever stops. */
const REFUSED_MS = 100;

/** `url`: of the service. `name` begins every mark (`utm_content`). */
export function startRedirectLoad(
  name: string,
  url: string,
  slugs: readonly string[],
  perSecond: number,
): RedirectLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  const sent: RedirectLoad["sent"] = new Set();
  const answered: RedirectLoad["answered"] = new Map();
  const failed: RedirectLoad["failed"] = new Map();
  const open = new Set<Promise<void>>();
  let running = true;
  let stall = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;
  const started = performance.now();

  const send = (number: number) => {
    const mark = `${name}-${number}`;
    sent.add(mark);
    const asked = performance.now();
    const asking = statusOf(agent, `${url}/${slugs[number % slugs.length]}?utm_content=${mark}`).then(
      (status) => {
        if (status === 301) answered.set(mark, { at: Date.now(), ms: performance.now() - asked });
        else failed.set(mark, String(status));
      },
      (error: NodeJS.ErrnoException) => {
        failed.set(mark, error.message);
        if (error.code === "ECONNREFUSED") refusedAt = performance.now();
      },
    );
    open.add(asking);
    void asking.finally(() => open.delete(asking));
  };
  const run = async () => {
    let number = 0;
    while (running) {
      const due = ((performance.now() - started) * perSecond) / 1000;
      const isRefused = performance.now() - refusedAt < REFUSED_MS;
      for (; number < due; number++) if (open.size < MOST_OPEN && !isRefused) send(number);
      const ticked = performance.now();
      await pause(TICK_MS);
      stall = Math.max(stall, performance.now() - ticked - TICK_MS);
    }
    await Promise.all(open);
    agent.destroy();
  };
  const ended = run();
  return {
    ...{ sent, answered, failed },
    async answeredMore(count) {
      const goal = answered.size + count;
      const sofar = () => `${count} more answers, ${answered.size} of ${goal} so far`;
      await until(sofar, () => answered.size >= goal, { withinMs: 150_000, everyMs: TICK_MS });
    },
    longestStallMs: () => Math.ceil(stall),
    stop() {
      running = false;
      return ended;
    },
  };
}

function statusOf(agent: Agent, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { agent, timeout: TIMEOUT_MS }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("error", reject);
    });
    asking.on("timeout", () => asking.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    asking.on("error", reject);
    asking.end();
  });
}
