// Real stores in a folder of their own, and the deps that commands get in production, for tests that append.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBackend } from "../../src/backend.ts";
import type { AnnouncedLink } from "../../src/commands/append-link.ts";
import type { Caller, CommandContext } from "../../src/commands/caller.ts";
import { chance } from "../../src/commands/chance.ts";
import type { Tier } from "../../src/events/vocabulary.ts";

export const operator: CommandContext = { requestId: "test-request", actor: { type: "operator" } };

export async function openCommandDeps() {
  const dataDir = await mkdtemp(join(tmpdir(), "linkledger-commands-"));
  const backend = await openBackend({ dataDir }, { offThreadEventStore: false });
  const announced: AnnouncedLink[] = [];
  const deps = {
    ...chance,
    eventStore: backend.eventStore,
    secrets: backend.secrets,
    keyPrefix: "ll",
    baseUrl: "http://localhost:3000",
    baseHost: "localhost",
    urlSafety: async (url: URL) => (url.hostname === "bad.example" ? ("unsafe" as const) : ("safe" as const)),
    announce: (link: AnnouncedLink) => void announced.push(link),
  };
  const close = async () => {
    await backend.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { deps, announced, close };
}

export function callerOf(accountId: string, tier: Tier): Caller {
  return { accountId, tier, via: "api", keyId: chance.newId() };
}
