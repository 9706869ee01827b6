// Appends of clicks and of seals on the embedded event store.
import { openStores } from "../support/runtime/stores.ts";
import { appendClicksContract } from "./append-clicks.ts";
import { sealingContract } from "./sealing.ts";

const open = async () => {
  const { eventStore: store, close } = await openStores();
  return { store, close };
};

appendClicksContract("SQLite", open);
sealingContract("SQLite", open);
