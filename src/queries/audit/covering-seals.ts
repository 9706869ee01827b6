// Which seals cover given events: found by halving the stream of seals, so that a long log costs a few reads.

import { readSeal } from "../../audit/seals/judge-seals.ts";
import { type SealReader, sealAt } from "../../audit/seals/read-seals.ts";
import { isSignedByItsKey, type Seal } from "../../audit/seals/seal.ts";
import { SEALS_STREAM } from "../../events/streams.ts";
import { type Position, START } from "../../stores/event-store/port.ts";

/** `seals`: their numbers, in order. `problems`: why one of them can't be relied upon. `unsealed`: behind the newest seal. */
type Coverage = {
  numbers: number[];
  problems: string[];
  unsealed: Position[];
  newest: Position | undefined;
};

/** Which seals cover the events at the positions. `trusted`: public keys. @throws StoreUnavailable */
export async function coverageOf(
  eventStore: SealReader,
  positions: readonly Position[],
  trusted: readonly string[],
): Promise<Coverage> {
  const [last] = await eventStore.read(SEALS_STREAM, { backwards: true, limit: 1 });
  const seals = new Map<number, Seal | undefined>(last && [[last.revision, readSeal(last)]]);
  const sealOf = async (number: number): Promise<Seal | undefined> => {
    if (!seals.has(number)) seals.set(number, await sealAt(eventStore, number));
    return seals.get(number);
  };
  const newest = last && ((await sealOf(last.revision))?.position ?? last.position);
  const numbers = new Set<number>();
  const unsealed: Position[] = [];
  for (const position of positions) {
    if (!last || position > (newest ?? START)) {
      unsealed.push(position);
      continue;
    }
    let [low, high] = [0, last.revision];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (((await sealOf(middle))?.position ?? START) < position) low = middle + 1;
      else high = middle;
    }
    numbers.add(low);
  }
  const ordered = [...numbers].sort((a, b) => a - b);
  const problems: string[] = [];
  for (const number of ordered) {
    const problem = signatureProblem(await sealOf(number), trusted);
    if (problem) problems.push(`seal ${number} ${problem}`);
  }
  return { numbers: ordered, problems, unsealed, newest };
}

function signatureProblem(seal: Seal | undefined, trusted: readonly string[]): string | undefined {
  if (!seal) return "can't be read";
  if (!isSignedByItsKey(seal)) return "is not what was signed";
  return trusted.includes(seal.publicKey) ? undefined : "is signed with another key";
}
