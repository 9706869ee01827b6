// How far the router of webhooks has come in the log, and which events it has passed, for all that show it.
import type { ReadStore } from "../read-store/port.ts";
import { readSetAside, type SetAside, setAsideCollection } from "./set-aside.ts";

export const ROUTER_CHECKPOINT = "webhooks-router";
export const ROUTER_NOTES = setAsideCollection(ROUTER_CHECKPOINT);

/** @throws what the store throws */
export async function routerSetAside(readStore: Pick<ReadStore, "find" | "checkpoint">): Promise<SetAside> {
  return await readSetAside(readStore, ROUTER_NOTES, await readStore.checkpoint(ROUTER_CHECKPOINT));
}
