// Tags are renamed a few links at a time, so that what else the thread has to do is done in between.
import { afterAll, beforeAll, expect, it } from "vitest";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { retagLinks } from "../../../src/commands/links/tags.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { addressOf, linkStream } from "../../../src/events/streams.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { linkCreated } from "../../support/event-store/stored-events.ts";

const [RENAMES, LINKS] = [8, 200];
const origin = { correlationId: "seed", causationId: "seed", actor: operator.actor };

let opened: Awaited<ReturnType<typeof openCommandDeps>>;
beforeAll(async () => {
  opened = await openCommandDeps();
});
afterAll(() => opened.close());

it("reads few links a turn of the event loop, also where several tags are renamed at once", async () => {
  const { deps } = opened;
  const { accountId } = await openAccount(deps, operator, { email: "tags@example.com", tier: "developer" });
  const keys = Array.from({ length: RENAMES * LINKS }, (_, n) => `localhost/link${n}`);
  for (const [n, key] of keys.entries()) {
    const { host, slug } = addressOf(key);
    const event = linkCreated({ host, slug, accountId, tags: [`t${n % RENAMES}`] });
    await deps.eventStore.append(linkStream(host, slug), "none", [newEvent(event, deps.newId(), origin)]);
  }
  let [reads, most, isOver] = [0, 0, false];
  const turn = () => {
    [reads, most] = [0, Math.max(most, reads)];
    if (!isOver) setImmediate(turn);
  };
  turn();
  const eventStore = new Proxy(deps.eventStore, {
    get(store, name) {
      if (name === "read") reads += 1;
      const member = Reflect.get(store, name) as unknown;
      return typeof member === "function" ? member.bind(store) : member;
    },
  });
  const renamed = await Promise.all(
    Array.from({ length: RENAMES }, (_, tag) => {
      const own = keys.filter((_, n) => n % RENAMES === tag);
      return retagLinks({ ...deps, eventStore }, operator, accountId, own, { from: `t${tag}`, to: "one" });
    }),
  );
  isOver = true;
  expect(renamed.map(({ results }) => results.length)).toEqual(Array(RENAMES).fill(LINKS));
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(RENAMES * 20);
});
