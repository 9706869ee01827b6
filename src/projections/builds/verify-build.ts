// Verifies a build: folds the log into an empty store, and compares each stored document with it at the same position.

import { pause } from "../../runtime/pause.ts";
import { upTo } from "../../stores/event-store/log-pages.ts";
import { type Position, START } from "../../stores/event-store/port.ts";
import { documentPages, documentsById } from "../../stores/read-store/document-pages.ts";
import type { CollectionSpec, Document, ReadStore } from "../../stores/read-store/port.ts";
import { clickTables } from "../definitions/click-tables/chunk.ts";
import { eventOf } from "../definitions/click-tables/positions.ts";
import type { DaySummary } from "../definitions/summaries/day.ts";
import type { LinkLifeDocument } from "../definitions/summaries/link-life.ts";
import { openDays } from "../definitions/summaries/open-days.ts";
import { type Build, type BuildStore, storeOfBuild } from "../fold/build.ts";
import { openDaysOf } from "../fold/clicks/stored-tables.ts";
import { foldBuild } from "../fold/fold-build.ts";
import { groupCollections, type ProjectionGroup } from "../groups.ts";
import { queriedBuild } from "./builds.ts";
import { changeBuilds, readBuilds } from "./builds-document.ts";
import type { CompleteDeps } from "./complete-build.ts";
import { tableDifference, tablesOf } from "./differing-tables.ts";
import { type Difference, fieldsThatDiffer } from "./field-differences.ts";

/** `version`: of the build that was compared; null where this program has none to compare. */
export type VerifiedGroup = { group: string; version: number | null; position: Position; documents: number };
export type Verification = { ok: boolean; groups: VerifiedGroup[]; differences: Difference[] };

type Deps = CompleteDeps & { scratch: ReadStore };
/** A document that is not the same, by its collection and id; of tables `<account>/<day>`. */
type Suspect = { projection: string; id: string };

const PAGE = 1_000;
/** While a service counts on, a document may be read before a commit of which another was read after. */
const LOOKS = 5;
const BETWEEN_LOOKS_MS = 500;
const MOST_DIFFERENCES = 1_000;

/** `onGroup`: when one is compared. @throws what the stores throw */
export async function verifyBuilds(deps: Deps, groups: readonly ProjectionGroup[]): Promise<Verification> {
  const verification: Verification = { ok: true, groups: [], differences: [] };
  for (const group of groups) {
    const build = queriedBuild(group, await readBuilds(deps.readStore, group));
    // Another version folds by other code.
    if (build?.version !== group.version) {
      verification.groups.push({ group: group.name, version: null, position: START, documents: 0 });
      continue;
    }
    const { differences, ...verified } = await verifyBuild(deps, group, build);
    verification.groups.push({ group: group.name, version: build.version, ...verified });
    verification.differences.push(...differences.slice(0, MOST_DIFFERENCES));
  }
  const isCompared = verification.groups.some(({ version }) => version !== null);
  return { ...verification, ok: isCompared && verification.differences.length === 0 };
}

async function verifyBuild(deps: Deps, group: ProjectionGroup, build: Build) {
  const { stored, folded } = sidesOf(deps, group, build);
  const position = await foldTo(deps, group, build, await positionOf(stored, group));
  let documents = 0;
  let suspects: Suspect[] = [];
  for (const { name } of comparedOf(group)) {
    for (const [side, other] of [
      [stored, folded],
      [folded, stored],
    ] as const)
      for await (const page of documentPages(side, name, { limit: PAGE })) {
        const ids = page.map(({ _id }) => _id);
        const others = await documentsById(other, name, ids);
        if (side === stored) documents += page.length;
        for (const document of page) {
          const same = others.get(document._id);
          // Those that both have are compared once.
          if (side === folded && same) continue;
          if (!same || fieldsThatDiffer(document, same).length > 0)
            suspects.push({ projection: name, id: document._id });
        }
      }
  }
  if (group.hasClickTables) {
    documents += await stored.count(clickTables.name, {});
    const tables = new Set<string>();
    for (const side of [stored, folded]) for await (const id of tablesOf(side)) tables.add(id);
    for (const id of tables) suspects.push({ projection: clickTables.name, id });
  }
  let differences: Difference[] = [];
  for (let look = 1; suspects.length > 0 && look <= LOOKS; look++) {
    if (look > 1) await pause(BETWEEN_LOOKS_MS);
    differences = await lookAgain(deps, group, build, suspects);
    suspects = differences.map(({ projection, id }) => ({ projection, id }));
  }
  return { position, documents, differences };
}

/** Of documents that are compared one by one. */
function comparedOf(group: ProjectionGroup): CollectionSpec[] {
  return groupCollections(group).filter((spec) => spec !== clickTables && spec !== openDays);
}

function sidesOf({ readStore, scratch }: Deps, group: ProjectionGroup, build: Build) {
  return { stored: storeOfBuild(readStore, group, build), folded: scratch };
}

/** Each as of its own last event, up to which the log is folded on: a running service may have changed it since. */
async function lookAgain(
  deps: Deps,
  group: ProjectionGroup,
  build: Build,
  suspects: readonly Suspect[],
): Promise<Difference[]> {
  const sides = sidesOf(deps, group, build);
  const looks: { projection: string; id: string; stored: Document | undefined }[] = [];
  for (const { name } of comparedOf(group)) {
    const ids = suspects.filter(({ projection }) => projection === name).map(({ id }) => id);
    const stored = await documentsById(sides.stored, name, ids);
    looks.push(...ids.map((id) => ({ projection: name, id, stored: stored.get(id) })));
  }
  const at = ({ stored }: { stored: Document | undefined }) => eventOf(stored?._position ?? "");
  const differences: Difference[] = [];
  for (const look of looks.sort((a, b) => (at(a) < at(b) ? -1 : 1))) {
    const { projection, id, stored } = look;
    const position = await foldTo(deps, group, build, at(look));
    const folded = await sides.folded.get(projection, id);
    // One that is not stored may have been made since the log was last folded on.
    const problem = !stored ? "missing" : !folded ? "unexpected" : "different";
    const fields = stored && folded ? fieldsThatDiffer(stored, folded) : [];
    if (stored && folded && fields.length === 0) continue;
    if (await isOfOpenDay(sides, stored, folded)) continue;
    differences.push({ projection, id, position, problem, fields });
  }
  const tables = suspects.filter(({ projection }) => projection === clickTables.name);
  const reached =
    tables.length > 0 ? await foldTo(deps, group, build, await positionOf(sides.stored, group)) : "";
  for (const { projection, id } of tables) {
    const [accountId = "", day = ""] = id.split("/");
    const difference = await tableDifference(sides.stored, sides.folded, { accountId, day }, reached);
    if (difference) differences.push({ projection, id, problem: "different", ...difference });
  }
  return differences;
}

/** Whether a summary may be of another time than the other one, as a day that it sums is open in one of the builds. */
async function isOfOpenDay(
  { stored, folded }: ReturnType<typeof sidesOf>,
  ...summaries: readonly (Document | undefined)[]
): Promise<boolean> {
  const of = summaries.filter((summary) => summary !== undefined) as (Document &
    Partial<DaySummary & LinkLifeDocument>)[];
  const days = of.map(({ day, lastDay }) => day ?? lastDay).filter((day) => day !== undefined);
  const accountId = of[0]?.accountId;
  const last = days.sort().at(-1);
  if (accountId === undefined || last === undefined) return false;
  const isLife = of.some(({ lastDay }) => lastDay !== undefined);
  for (const side of [stored, folded])
    if ((await openDaysOf(side, accountId)).some((day) => (isLife ? day <= last : day === last))) return true;
  return false;
}

/** Folds on to the position, unless it is reached already. Returns where the folded documents are. */
async function foldTo(
  deps: Deps,
  group: ProjectionGroup,
  build: Build,
  position: Position,
): Promise<Position> {
  const reached = (await deps.scratch.checkpoint(group.name))?.position ?? START;
  if (position <= reached) return reached;
  const folding = { ...deps, eventStore: upTo(deps.eventStore, position), readStore: deps.scratch };
  const { version } = group;
  const active: Build = { version, build: 0, ...(build.rules !== undefined && { rules: build.rules }) };
  await changeBuilds(folding, group, (builds) => (builds.active ? builds : { active, retired: [], next: 1 }));
  await foldBuild(folding, group, active, { signal: new AbortController().signal, follows: false });
  return position;
}

async function positionOf(stored: BuildStore, { name }: ProjectionGroup): Promise<Position> {
  return (await stored.checkpoint(name))?.position ?? START;
}
