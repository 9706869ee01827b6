// Who follows links is woken by links, in whichever thread, and by no click.
import { setImmediate as turn } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { AppendSignal } from "../../../src/stores/event-store/sqlite/append-signal.ts";
import { until } from "../../support/runtime/until.ts";

/** Longer than any test. */
const NEVER_MS = 600_000;

it("wakes followers of the category that was appended to, of this store and of others of the file", async () => {
  const file = `${crypto.randomUUID()}.db`;
  const [own, other] = [new AppendSignal(file), new AppendSignal(file)];
  const stop = new AbortController();
  const woken: string[] = [];
  onTestFinished(() => {
    stop.abort();
    for (const signal of [own, other]) signal.close();
  });
  for (const [name, signal] of Object.entries({ own, other }))
    for (const category of ["link", "clicks"])
      void signal
        .listen([category, "seals"])
        .next(NEVER_MS, stop.signal)
        .then(() => woken.push(`${name} ${category}`));
  own.send("clicks");
  await until("both to be woken", () => woken.length === 2);
  for (let n = 0; n < 10; n += 1) await turn();
  expect(woken).toEqual(["own clicks", "other clicks"]);
  own.send("link");
  await until("the others to be woken", () => woken.length === 4);
  expect(woken.slice(2)).toEqual(["own link", "other link"]);
});

it("tells at the next call of an append that came before it", async () => {
  const signal = new AppendSignal(`${crypto.randomUUID()}.db`);
  onTestFinished(() => signal.close());
  const appended = signal.listen(["link"]);
  signal.send("link");
  await appended.next(NEVER_MS, new AbortController().signal);
});
