// The abusive clients: runs the ordered kinds of abuse for a time, and answers with the counts of their responses.
import { setPriority } from "node:os";
import { pause } from "../../src/runtime/pause.ts";
import { type Abuse, type AbuseCounts, type AbuseKind, type AbuseOrder, abuseKinds } from "./abuses.ts";

/** The work of the abusers themselves is done on the same cores here, but it is not what redirects are to withstand. */
setPriority(10);

process.on("message", async (order: AbuseOrder) => {
  process.send?.(await abuse(order));
});
process.once("disconnect", () => process.exit(0));

async function abuse(order: AbuseOrder): Promise<AbuseCounts> {
  const kinds = await abuseKinds(order);
  const until = performance.now() + order.seconds * 1_000;
  const counts: AbuseCounts = {};
  await Promise.all(
    order.kinds.map(async (kind: Abuse) => {
      counts[kind] = await repeat(kinds[kind], until);
    }),
  );
  return counts;
}

/** Starts requests at the kind's rate; waits while its maximum is in flight. */
async function repeat(
  { perSecond, maxInFlight, send }: AbuseKind,
  until: number,
): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  const count = (answer: string) => {
    answers[answer] = (answers[answer] ?? 0) + 1;
  };
  const started = performance.now();
  const inFlight = new Set<Promise<void>>();
  for (let n = 0; performance.now() < until; n += 1) {
    await pause(Math.max(0, started + (n * 1_000) / perSecond - performance.now()));
    if (inFlight.size >= maxInFlight) await Promise.race(inFlight);
    const one: Promise<void> = send(n)
      .then(count, (error: Error) => count(error.message))
      .finally(() => inFlight.delete(one));
    inFlight.add(one);
  }
  await Promise.race([Promise.all(inFlight), pause(5_000)]);
  return answers;
}
