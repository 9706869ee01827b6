// What a service of one process is asked all the time is answered where it is asked.
import { expect, it } from "vitest";
import { parseConfig } from "../../../src/config/config.ts";
import { embeddedStores } from "../../../src/service/stores/embedded.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

it("starts no thread for a look at readiness", async () => {
  const folder = await temporaryFolder();
  const thread = { call: () => Promise.reject(new Error("the thread was started")) };
  const stores = embeddedStores(parseConfig({ DATA_DIR: folder.path }), {
    threads: { writer: thread, reader: thread },
  } as unknown as Parameters<typeof embeddedStores>[1]);
  try {
    expect(await (await stores.deliveryQueue()).routed()).toBeUndefined();
    expect(await (await stores.foldStore()).checkpoints()).toEqual({});
  } finally {
    await stores.close();
    await folder.remove();
  }
});
