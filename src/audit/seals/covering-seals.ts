// Which seals cover given events: found by halving the stream of seals, so that a long log costs a few reads.

import { CATEGORY, SEALS_STREAM } from "../../events/streams.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import type { EventStore, Position, RecordedEvent } from "../../stores/event-store/port.ts";
import { readSeal } from "./judge-seals.ts";
import { isSignedByItsKey, leafOf, rootOf, type Seal } from "./seal.ts";

type Deps = { eventStore: Pick<EventStore, "read" | "readAll"> };

/** `seal`: undefined when it can't be read. */
export type CoveringSeal = { number: number; seal: Seal | undefined };

/** `seals`: in order. `unsealed`: positions behind the newest seal. */
export type Coverage = { seals: CoveringSeal[]; unsealed: Position[]; newest: Position | undefined };

const PAGE = 2_000;

/** @throws StoreUnavailable */
export async function coverageOf({ eventStore }: Deps, positions: readonly Position[]): Promise<Coverage> {
  const known = new Map<number, RecordedEvent>();
  const [last] = await eventStore.read(SEALS_STREAM, { backwards: true, limit: 1 });
  if (last) known.set(last.revision, last);
  const reachOf = async (number: number): Promise<Position> => {
    const recorded =
      known.get(number) ?? (await eventStore.read(SEALS_STREAM, { from: number, limit: 1 }))[0];
    if (!recorded) return "";
    known.set(number, recorded);
    return readSeal(recorded)?.position ?? recorded.position;
  };
  const newest = last && (await reachOf(last.revision));
  const numbers = new Set<number>();
  const unsealed: Position[] = [];
  for (const position of positions) {
    if (!last || position > (newest ?? "")) unsealed.push(position);
    else numbers.add(await firstReaching(position, last.revision));
  }
  const seals = [...numbers].sort((a, b) => a - b).map((number) => sealOf(number, known.get(number)));
  return { seals, unsealed, newest };

  async function firstReaching(position: Position, end: number): Promise<number> {
    let [low, high] = [0, end];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((await reachOf(middle)) < position) low = middle + 1;
      else high = middle;
    }
    await reachOf(low);
    return low;
  }
}

/** Why the seal proves nothing of its block, by what is in the log now; undefined when it does. Reads the block. */
export async function blockProblem(
  { eventStore }: Deps,
  { number, seal }: CoveringSeal,
): Promise<string | undefined> {
  if (!seal) return undefined;
  const leaves: Buffer[] = [];
  const part = { after: seal.after, upTo: seal.position, categories: Object.values(CATEGORY), limit: PAGE };
  for await (const page of logPages(eventStore, part)) leaves.push(...page.map(leafOf));
  if (leaves.length === seal.events && rootOf(leaves) === seal.root) return undefined;
  return `what lies under seal ${number} is not what was sealed`;
}

/** Why its signature can't be relied upon; undefined when it can. `trusted`: public keys. */
export function signatureProblem(
  { number, seal }: CoveringSeal,
  trusted: readonly string[],
): string | undefined {
  if (!seal) return `seal ${number} can't be read`;
  if (!isSignedByItsKey(seal)) return `seal ${number} is not what was signed`;
  return trusted.includes(seal.publicKey) ? undefined : `seal ${number} is signed with another key`;
}

function sealOf(number: number, recorded: RecordedEvent | undefined): CoveringSeal {
  return { number, seal: recorded && readSeal(recorded) };
}
