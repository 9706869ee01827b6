// Which seals can be trusted: those that this service signed, and those that a trusted later one follows.

import { z } from "zod";
import { sealEvents } from "../../events/log-events.ts";
import { SEALS_STREAM } from "../../events/streams.ts";
import type { Position, RecordedEvent } from "../../stores/event-store/port.ts";
import { type LogProblem, type Place, placeOf } from "./places.ts";
import {
  BLOCK_EVENTS,
  isSignedByItsKey,
  type KnownSeal,
  type Seal,
  type ShownSeal,
  sealHash,
} from "./seal.ts";

/** A seal without what it keeps of each event, tens of kilobytes. */
export type SealHeader = Omit<Seal, "places" | "marks"> & KnownSeal;

/** `seal`: undefined when its data can't be read. `reason`: why it is not good. */
export type Judged = { event: Place; seal: SealHeader | undefined; reason: string | undefined };

/** What a judgement needs to know of a seal. `isSigned`: by the key that it names. */
export type SealFacts = Omit<Judged, "reason"> & { isSigned: boolean };

export function sealFacts(event: Place, seal: Seal | ShownSeal | undefined): SealFacts {
  if (!seal) return { event: placeOf(event), seal, isSigned: false };
  const header = headerOf(seal);
  return {
    event: placeOf(event),
    seal: { ...header, hash: sealHash(seal) },
    isSigned: isSignedByItsKey(seal),
  };
}

function headerOf(seal: Seal | ShownSeal): Omit<Seal, "places" | "marks"> {
  if ("placesHash" in seal) {
    const { placesHash: _, marksHash: __, ...header } = seal;
    return header;
  }
  const { places: _, marks: __, ...header } = seal;
  return header;
}

/**
 * Takes seals from the newest to the oldest. A key that was changed since needs no trust: the first seal under the
 * present key binds all before it by their hashes.
 */
export class SealJudge {
  readonly #trusted: readonly string[];
  #later: { revision: number; seal: SealHeader | undefined } | undefined;

  /** `trusted`: public keys. */
  constructor(trusted: readonly string[]) {
    this.#trusted = trusted;
  }

  next(facts: SealFacts): Judged {
    const { event, seal } = facts;
    const reason = this.#reasonAgainst(facts);
    this.#later = { revision: event.revision, seal: reason === undefined ? seal : undefined };
    return { event, seal, reason };
  }

  #reasonAgainst({ event: { revision }, seal, isSigned }: SealFacts): string | undefined {
    if (!seal) return "can't be read as a seal";
    if (seal.number !== revision) return `says that it is seal ${seal.number}`;
    const follower = this.#later?.revision === revision + 1 ? this.#later.seal : undefined;
    if (follower)
      return follower.previous === seal.hash && follower.after === seal.position
        ? undefined
        : `is not the seal that seal ${revision + 1} follows`;
    if (!isSigned) return "is not what was signed";
    return this.#trusted.includes(seal.publicKey) ? undefined : "is signed with another key";
  }
}

/** What is wrong with seals, newest first; those that are missing have no position. */
export function sealProblems(judged: readonly Judged[]): LogProblem[] {
  return judged.flatMap(({ event, reason }, n) => {
    const problems = reason === undefined ? [] : [sealProblem(event.revision, event.position, reason)];
    const older = judged[n + 1]?.event.revision ?? -1;
    for (let gone = event.revision - 1; gone > older; gone -= 1)
      problems.push(sealProblem(gone, "", "was removed"));
    return problems;
  });
}

export function sealProblem(revision: number, position: Position, what: string): LogProblem {
  return { stream: SEALS_STREAM, revision, position, message: `seal ${revision} ${what}` };
}

/**
 * A member that nobody knows would be outside of what is signed. Of a file that anybody wrote, so many events as no block has
 * would be unpacked before the signature is judged.
 */
export const sealSchema = sealEvents.LogSealed.schema
  .extend({ events: z.int().min(0).max(BLOCK_EVENTS) })
  .strict();

/** As an account is given it. */
export const shownSealSchema = sealSchema
  .omit({ places: true, marks: true })
  .extend({ placesHash: z.string(), marksHash: z.string() })
  .strict();

/** Undefined when the event is no seal, or one that can't be read. */
export function readSeal({ type, data }: RecordedEvent): Seal | undefined {
  if (type !== "LogSealed") return undefined;
  return sealSchema.safeParse(data).data;
}
