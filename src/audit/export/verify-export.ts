// Checks an exported log with the public key alone, offline.

import { Refused } from "../../runtime/refused.ts";
import type { Position, RecordedEvent } from "../../stores/event-store/port.ts";
import { differences } from "../seals/differences.ts";
import { readSeal, type SealFacts, SealJudge, sealFacts, sealProblems } from "../seals/judge-seals.ts";
import { merkleRoot, type Part } from "../seals/merkle.ts";
import { type LogProblem, type Place, placeOf, unpackPlaces } from "../seals/places.ts";
import { leafOf, type Seal } from "../seals/seal.ts";
import { type Judgement, verdictOf } from "../verdict.ts";
import { type ExportLine, type ExportSelection, isSelected, parseExportLine } from "./export-lines.ts";

export type ExportVerification = Judgement & {
  seals: number;
  /** Below a seal. */
  events: number;
  /** Behind the last seal. */
  unsealed: number;
  selection: ExportSelection;
  problems: LogProblem[];
};

/** `before`: where the block before it in the file ends. */
type Block = {
  recorded: RecordedEvent;
  seal: Seal | undefined;
  before: Position;
  events: RecordedEvent[];
  parts: Part[];
};

/** `lines`: of the file. `trusted`: public keys. @throws bad_export */
export async function verifyExport(
  lines: AsyncIterable<string>,
  trusted: readonly string[],
): Promise<ExportVerification> {
  let reader: ExportReader | undefined;
  let number = 0;
  for await (const text of lines) {
    number += 1;
    const line = parseExportLine(text, number);
    if (!reader && "export" in line) reader = new ExportReader(line);
    else if (reader && !("export" in line)) reader.add(line);
    else
      throw new Refused("bad_export", `Line ${number}: the first line, and no other, says what was exported`);
  }
  if (!reader) throw new Refused("bad_export", "The file is empty");
  return reader.end(trusted);
}

class ExportReader {
  readonly #selection: ExportSelection;
  readonly #facts: SealFacts[] = [];
  /** What is wrong with each seal's block. */
  readonly #ofBlocks: LogProblem[][] = [];
  readonly #ofEvents: LogProblem[] = [];
  #nextRevision: number | undefined;
  #block: Block | undefined;
  #isUnsealed = false;
  /** Position up to which seals and events without one have come. */
  #reached: Position = "";
  #hasEnded = false;
  #events = 0;
  #unsealed = 0;

  constructor({ from, to, stream }: ExportSelection) {
    this.#selection = { from, to, stream };
    this.#nextRevision = from === undefined ? 0 : undefined;
  }

  add(line: Exclude<ExportLine, { export: unknown }>): void {
    if (this.#hasEnded) throw new Refused("bad_export", "There are lines behind the last one");
    if ("event" in line) this.#addEvent(line.event);
    else if ("hash" in line) this.#block?.parts.push({ ...line, hash: Buffer.from(line.hash, "hex") });
    else {
      this.#closeBlock();
      if ("seal" in line) this.#openBlock(line.seal);
      else if ("unsealed" in line) this.#isUnsealed = true;
      else this.#hasEnded = true;
    }
  }

  end(trusted: readonly string[]): ExportVerification {
    if (!this.#hasEnded) throw new Refused("bad_export", "The file is not whole: its last line is missing");
    const selection = this.#selection;
    const judge = new SealJudge(trusted);
    const judged = this.#facts.toReversed().map((facts) => judge.next(facts));
    // Seals of blocks in which nothing was selected are not there: positions, not numbers, tell what is missing.
    const ofSeals = sealProblems(judged).filter(({ position }) => position !== "");
    const isGood = judged.toReversed().map(({ reason }) => reason === undefined);
    const ofBlocks = this.#ofBlocks.filter((_, n) => isGood[n]).flat();
    const problems = [...ofSeals.toReversed(), ...ofBlocks, ...this.#ofEvents];
    const seal = judged.find(({ reason }) => reason === undefined)?.seal;
    const counts = { events: this.#events, unsealed: this.#unsealed };
    const judgement = verdictOf({
      ...{ problemCount: problems.length, problems, seal, keyOrigin: "of --key" },
      ...{ sealed: counts.events, unsealed: counts.unsealed, isPart: true },
    });
    return { ...judgement, seals: judged.length, ...counts, selection, problems };
  }

  #openBlock(recorded: RecordedEvent): void {
    if (this.#isUnsealed) throw new Refused("bad_export", "There is a seal behind events that have none");
    const before = this.#facts.at(-1)?.seal?.position ?? "";
    const seal = readSeal(recorded);
    this.#facts.push(sealFacts(recorded));
    this.#block = { recorded, seal, before, events: [], parts: [] };
    this.#reached = seal?.position ?? this.#reached;
  }

  #closeBlock(): void {
    if (this.#block) this.#ofBlocks.push(this.#problemsOf(this.#block));
    this.#block = undefined;
  }

  #addEvent(event: RecordedEvent): void {
    const { stream, revision } = event;
    if (!isSelected(this.#selection, event)) this.#report(event, "does not belong to what was exported");
    if (event.unreadable !== undefined)
      this.#report(event, `could not be read when it was exported: ${event.unreadable}`);
    if (stream === this.#selection.stream) {
      const expected = this.#nextRevision ?? revision;
      if (revision !== expected) this.#report(event, `revision ${expected} was expected`);
      this.#nextRevision = revision + 1;
    }
    if (this.#block) {
      this.#events += 1;
      this.#block.events.push(event);
      this.#block.parts.push({ hash: leafOf(event), events: 1 });
    } else {
      this.#unsealed += 1;
      if (!this.#isUnsealed) this.#report(event, "is below no seal");
      if (event.position <= this.#reached) this.#report(event, "does not belong behind what is before it");
      this.#reached = event.position;
    }
  }

  #report(event: Place, message: string): void {
    this.#ofEvents.push({ ...placeOf(event), message });
  }

  #problemsOf({ recorded, seal, before, events, parts }: Block): LogProblem[] {
    if (!seal) return [];
    const problem = (message: string) => ({ ...placeOf(recorded), message });
    const found = this.#follows(seal, before)
      ? []
      : [problem(`seal ${seal.number} does not follow what is before it in the file`)];
    const count = parts.reduce((sum, part) => sum + part.events, 0);
    if (count === seal.events && merkleRoot(parts)?.toString("hex") === seal.root)
      return [...found, ...this.#withheld(seal, events)];
    const leaves = events.map(leafOf);
    const isExpected = (place: Place) => isSelected(this.#selection, place);
    found.push(...differences({ seal, events, leaves, keys: [], isExpected }));
    if (found.length > 0) return found;
    return [
      problem(`what the file has up to position ${seal.position} is not what seal ${seal.number} covers`),
    ];
  }

  /** Blocks left out have nothing that was selected; of a single stream, only its revisions tell. */
  #follows({ after }: Seal, before: Position): boolean {
    const { stream } = this.#selection;
    if (after <= before) return after === before;
    return stream !== undefined || !isSelected(this.#selection, { stream: "", position: after });
  }

  /** Selected events of which the file has only the hash. */
  #withheld(seal: Seal, events: readonly RecordedEvent[]): LogProblem[] {
    const shown = new Set(events.map(({ position }) => position));
    const places = unpackPlaces(seal.places, seal.events) ?? [];
    return places
      .filter((place) => isSelected(this.#selection, place) && !shown.has(place.position))
      .map((place) => ({ ...place, message: "was withheld" }));
  }
}
