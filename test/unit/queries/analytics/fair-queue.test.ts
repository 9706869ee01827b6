// Accounts take turns: one that asks much keeps nobody waiting but itself, and who has gone takes no turn.
import fc from "fast-check";
import { expect, it } from "vitest";
import { fairQueue } from "../../../../src/queries/analytics/fair-queue.ts";
import { effort } from "../../../support/runtime/effort.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("has at most two of an account at work, begins each in its account's order, and ends all, whoever leaves", async () => {
  const question = fc.record({ account: fc.constantFrom("a", "b", "c", "d", "e"), leaves: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.array(question, { maxLength: 40 }),
      fc.infiniteStream(fc.nat(2)),
      async (all, lasts) => {
        const inLine = fairQueue();
        const atWork = new Map<string, number>();
        const begun = new Map<string, number[]>();
        const answers = all.map(({ account, leaves }, n) => {
          const client = new AbortController();
          const work = async () => {
            begun.set(account, [...(begun.get(account) ?? []), n]);
            atWork.set(account, (atWork.get(account) ?? 0) + 1);
            expect(atWork.get(account)).toBeLessThanOrEqual(2);
            for (let left = lasts.next().value ?? 0; left > 0; left--) await turn();
            atWork.set(account, (atWork.get(account) ?? 0) - 1);
          };
          const answer = inLine(account, work, client.signal);
          if (leaves) void turn().then(() => client.abort(new Error("gone")));
          return answer;
        });
        for (const [n, { status, ...more }] of (await Promise.allSettled(answers)).entries()) {
          if (status === "fulfilled") continue;
          const isGone = String((more as { reason: unknown }).reason) === "Error: gone";
          expect(isGone ? all[n]?.leaves : (more as { reason: unknown }).reason).toSatisfy(
            (reason: unknown) => reason === true || (reason as { code: string }).code === "analytics_busy",
          );
        }
        for (const order of begun.values()) expect(order).toEqual(order.toSorted((a, b) => a - b));
        expect(await inLine("a", async () => "free")).toBe("free");
      },
    ),
    { numRuns: effort(50, 500) },
  );
});

it("answers another account beside one whose line is full of questions that never end", async () => {
  const inLine = fairQueue();
  const client = new AbortController();
  const never = () =>
    new Promise<void>((_, reject) => client.signal.addEventListener("abort", () => reject()));
  const greedy = Array.from({ length: 100 }, () => inLine("greedy", never, client.signal));
  await expect(inLine("greedy", async () => 1)).rejects.toMatchObject({ code: "analytics_busy" });
  expect(await inLine("other", async () => 2)).toBe(2);
  client.abort();
  await Promise.allSettled(greedy);
  expect(await inLine("greedy", async () => 3)).toBe(3);
});
