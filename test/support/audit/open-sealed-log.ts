// A log on real stores, and the means to add events and seals to it.
import { randomUUID } from "node:crypto";
import { notedSeal } from "../../../src/audit/seals/noted-seal.ts";
import type { SealKeys } from "../../../src/audit/seals/seal-keys.ts";
import { Sealer } from "../../../src/audit/seals/sealer.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../event-store/stored-events.ts";
import { append, openStores } from "../runtime/stores.ts";
import { KEYS } from "./keys.ts";

export const CLICKS = "clicks-a-20260301";
export const LINK = "link-sho.rt/abc";

export type OpenSealedLog = Awaited<ReturnType<typeof openSealedLog>>;

/** With an account and a link. */
export async function openSealedLog() {
  const { eventStore, readStore, close } = await openStores();
  const at = new Date().toISOString();
  const noted = notedSeal(readStore);
  const deps = { eventStore, noted, clock: () => new Date(), newId: randomUUID };
  await append(eventStore, `account-${ACCOUNT}`, [
    { type: "AccountOpened", data: { accountId: ACCOUNT, at, tier: "developer" } },
  ]);
  await append(eventStore, LINK, [linkCreated({ at })]);
  return {
    ...deps,
    close,
    async click(count: number): Promise<void> {
      const clicks = Array.from({ length: count }, (_, n) => linkClicked({ at, city: `city ${n}` }));
      await append(eventStore, CLICKS, clicks);
    },
    /** What is not sealed yet; a seal of no events when there is nothing. */
    async seal(keys: readonly [SealKeys, ...SealKeys[]] = [KEYS]): Promise<void> {
      const sealer = await Sealer.open({ ...deps, keys });
      while (await sealer.read());
      await sealer.seal();
    },
  };
}
