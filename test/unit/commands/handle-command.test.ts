// A command whose stream gets events of others meanwhile, on a real store.
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Command, handleCommand } from "../../../src/commands/handle-command.ts";
import type { EventOf } from "../../../src/events/catalogue.ts";
import { RevisionConflict } from "../../../src/stores/event-store/port.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { append } from "../../support/runtime/stores.ts";

type Changed = EventOf<"TierChanged">;

const ACCOUNT = "0197d2a4-7c1e-7b3a-9f00-000000000001";
const STREAM = `account-${ACCOUNT}`;
const changed = (to: "free" | "developer"): Changed => ({
  type: "TierChanged",
  data: { accountId: ACCOUNT, from: "free", to, at: "2026-03-01T12:00:00.000Z" },
});
const [ours, theirs] = [changed("developer"), changed("free")];

let opened: Awaited<ReturnType<typeof openCommandDeps>>;
beforeEach(async () => {
  opened = await openCommandDeps();
});
afterEach(() => opened.close());

/** `rivals`: appends of another process, each a moment before one of the command's. The state: what was folded. */
function handled(
  rivals: number,
  decide: (folded: readonly string[]) => Changed[],
  more: Partial<Command<string[], Changed>> = {},
) {
  const { eventStore } = opened.deps;
  const tries: number[] = [];
  const raced = storeWith(eventStore, {
    append: async (...given) => {
      if (tries.push(tries.length) <= rivals) await append(eventStore, STREAM, [theirs]);
      return await eventStore.append(...given);
    },
  });
  const deps = { ...opened.deps, eventStore: raced, sleep: async () => undefined };
  const fold = (folded: string[], { data }: Changed) => [...folded, data.to];
  const command = { stream: STREAM, initial: [], fold, decide, ...more };
  return { tries, result: handleCommand<string[], Changed>(deps, operator, command) };
}

it("decides again on what others have appended, each event folded once", async () => {
  const decided: string[][] = [];
  const { result } = handled(2, (folded) => {
    decided.push([...folded]);
    return [ours];
  });
  expect(await result).toMatchObject({ state: ["free", "free", "developer"], revision: 2 });
  expect(decided).toEqual([[], ["free"], ["free", "free"]]);
});

it("gives up after five lost races", async () => {
  const { tries, result } = handled(9, () => [ours]);
  await expect(result).rejects.toThrow(RevisionConflict);
  expect(tries).toHaveLength(5);
});

it("answers after the last lost race that nothing is left to do, where that is so", async () => {
  const { result } = handled(9, (folded) => (folded.length < 5 ? [ours] : []));
  expect(await result).toMatchObject({ events: [], revision: 4 });
});

it("reads a stream that it took for new as soon as it is not", async () => {
  const { tries, result } = handled(
    1,
    (folded) => {
      if (folded.length > 0) throw new Error("taken");
      return [ours];
    },
    { expectNew: true },
  );
  await expect(result).rejects.toThrow("taken");
  expect(tries).toHaveLength(1);
});
