// Checks an exported log with the public key alone, offline.

import { Refused } from "../../commands/refusals.ts";
import { SEALS_STREAM } from "../../events/streams.ts";
import type { Position } from "../../stores/event-store/port.ts";
import { differences, type Leaf } from "../seals/block-differences.ts";
import { type SealFacts, SealJudge, sealFacts, sealProblem, sealProblems } from "../seals/judge-seals.ts";
import { merkleRoot, type Part } from "../seals/merkle.ts";
import { type LogProblem, placeOf, unpackPlaces } from "../seals/places.ts";
import type { Seal, ShownSeal } from "../seals/seal.ts";
import { type Judgement, verdictOf } from "../verdict.ts";
import {
  type ExportLine,
  type ExportSelection,
  isSelected,
  parseExportLine,
  streamsOfLink,
} from "./export-lines.ts";

export type ExportVerification = Judgement & {
  seals: number;
  /** Below a seal. */
  events: number;
  /** Behind the last seal. */
  unsealed: number;
  selection: ExportSelection;
  problems: LogProblem[];
};

const NO_PROOF_OF_LINK =
  "This is no proof of one link: the operator checks other exports with `audit verify --file`";

/** `shown`: undefined where only the hash of a subtree is there. `before`: where the block before it in the file ends. */
type Block = { seal: Seal | ShownSeal; before: Position; parts: (Part & { shown?: Leaf })[] };

/**
 * `lines`: of the file. `trusted`: public keys. `isOfLink`: of strangers, and so the proof of a link alone, whose seals have
 * nothing that is to be unpacked. @throws bad_export
 */
export async function verifyExport(
  lines: AsyncIterable<string>,
  trusted: readonly string[],
  { isOfLink = false } = {},
): Promise<ExportVerification> {
  let reader: ExportReader | undefined;
  let number = 0;
  for await (const text of lines) {
    number += 1;
    const line = parseExportLine(text, number);
    if (!reader && "export" in line) {
      if (isOfLink && line.link === undefined) throw new Refused("bad_export", NO_PROOF_OF_LINK);
      reader = new ExportReader(line);
    } else if (reader && !("export" in line)) reader.add(line);
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
  /** By streams that are there from their beginning. */
  readonly #nextRevisions = new Map<string, number>();
  #block: Block | undefined;
  #isUnsealed = false;
  /** Position up to which seals and events without one have come. */
  #reached: Position = "";
  #hasEnded = false;
  #events = 0;
  #unsealed = 0;

  constructor({ from, to, stream, link }: ExportSelection) {
    this.#selection = { from, to, stream, link };
    const whole = [
      ...(stream === undefined ? [] : [stream]),
      ...(link === undefined ? [] : streamsOfLink(link)),
    ];
    if (from === undefined) for (const name of whole) this.#nextRevisions.set(name, 0);
  }

  add(line: Exclude<ExportLine, { export: unknown }>): void {
    if (this.#hasEnded) throw new Refused("bad_export", "There are lines behind the last one");
    if ("event" in line) this.#addEvent({ place: line.event, leaf: line.leaf });
    else if ("hash" in line)
      this.#block?.parts.push({ hash: Buffer.from(line.hash, "hex"), events: line.events });
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
      problemCount: problems.length,
      problems,
      seal,
      keyOrigin: "of --key",
      sealed: counts.events,
      unsealed: counts.unsealed,
      isPart: true,
    });
    return { ...judgement, seals: judged.length, ...counts, selection, problems };
  }

  #openBlock(seal: Seal | ShownSeal): void {
    if (this.#isUnsealed) throw new Refused("bad_export", "There is a seal behind events that have none");
    if (this.#selection.link !== undefined && "places" in seal)
      throw new Refused("bad_export", "There is a seal that names streams of others");
    const before = this.#facts.at(-1)?.seal?.position ?? "";
    const place = { stream: SEALS_STREAM, revision: seal.number, position: seal.position };
    this.#facts.push(sealFacts(place, seal));
    this.#block = { seal, before, parts: [] };
    this.#reached = seal.position;
  }

  #closeBlock(): void {
    if (this.#block) this.#ofBlocks.push(this.#problemsOf(this.#block));
    this.#block = undefined;
  }

  #addEvent(shown: Leaf): void {
    const { place } = shown;
    const { stream, revision, position } = place;
    if (!isSelected(this.#selection, place)) this.#report(shown, "does not belong to what was exported");
    if (stream === this.#selection.stream || this.#nextRevisions.has(stream)) {
      const expected = this.#nextRevisions.get(stream) ?? revision;
      if (revision !== expected) this.#report(shown, `revision ${expected} was expected`);
      this.#nextRevisions.set(stream, revision + 1);
    }
    const isEvent = stream !== SEALS_STREAM;
    if (this.#block) {
      if (isEvent) this.#events += 1;
      this.#block.parts.push({ hash: shown.leaf, events: 1, shown });
      return;
    }
    if (isEvent) this.#unsealed += 1;
    if (!this.#isUnsealed) this.#report(shown, "is below no seal");
    if (position <= this.#reached) this.#report(shown, "does not belong behind what is before it");
    this.#reached = position;
  }

  #report({ place }: Leaf, message: string): void {
    this.#ofEvents.push({ ...placeOf(place), message });
  }

  #problemsOf(block: Block): LogProblem[] {
    const { seal, before, parts } = block;
    const { number, position, events, root } = seal;
    const follows = this.#follows(seal, before)
      ? []
      : [sealProblem(number, position, "does not follow what is before it in the file")];
    const count = parts.reduce((sum, part) => sum + part.events, 0);
    if (count === events && merkleRoot(parts)?.toString("hex") === root)
      return [...follows, ...this.#withheld(block)];
    const present = parts.flatMap(({ shown }) => shown ?? []);
    const isWhole = present.length === parts.length;
    const named = !("places" in seal)
      ? []
      : differences(seal, present, ({ stream }) => isWhole || stream === this.#selection.stream);
    const problems = [...follows, ...named];
    return problems.length > 0
      ? problems
      : [sealProblem(number, position, "does not cover what the file has up to its position")];
  }

  /** Blocks left out have nothing that was selected; of a single stream, only its revisions tell. */
  #follows({ after }: Seal | ShownSeal, before: Position): boolean {
    const { stream, link } = this.#selection;
    if (after <= before) return after === before;
    return (
      stream !== undefined ||
      link !== undefined ||
      !isSelected(this.#selection, { stream: "", position: after })
    );
  }

  /** Of events of which the file has only the hash, those that certainly belong to what was selected. */
  #withheld({ seal, parts }: Block): LogProblem[] {
    const { from = "", to = "~", stream } = this.#selection;
    if (!("places" in seal)) return [];
    const places = unpackPlaces(seal.places, seal.events) ?? [];
    let [n, after] = [0, seal.after];
    return parts.flatMap(({ shown, events }, index) => {
      const hidden = places.slice(n, n + events);
      n += events;
      if (shown) {
        after = shown.place.position;
        return [];
      }
      const following = parts.find((part, at) => at > index && part.shown)?.shown;
      if (after < from || (following?.place.position ?? seal.position) > to) return [];
      return hidden
        .filter((place) => stream === undefined || place.stream === stream)
        .map((place) => ({ ...place, position: "", message: "was withheld" }));
    });
  }
}
