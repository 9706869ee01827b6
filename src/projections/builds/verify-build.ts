// Verifies a build: folds the log into an empty store, and compares each stored document with it at the same position.
import { pause } from "../../runtime/pause.ts";
import { upTo } from "../../stores/event-store/log-pages.ts";
import { type Position, START } from "../../stores/event-store/port.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { Document, ReadStore } from "../../stores/read-store/port.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Build, queriedBuild } from "./builds.ts";
import { checkpointName, collectionName, readBuilds } from "./builds-document.ts";
import type { CompleteDeps } from "./complete-build.ts";
import { type Difference, fieldsThatDiffer } from "./differences.ts";
import { foldScratch } from "./fold-now.ts";

/** `version`: of the build that was compared; null where this program has none to compare. */
export type VerifiedGroup = { group: string; version: number | null; position: Position; documents: number };
export type Verification = { ok: boolean; groups: VerifiedGroup[]; differences: Difference[] };

type Deps = CompleteDeps & { scratch: ReadStore };
/** A document that is not the same, by its collection and id. */
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
  const position = await foldTo(deps, group, build, await positionOf(deps, group, build));
  let documents = 0;
  let suspects: Suspect[] = [];
  for (const projection of group.projections) {
    const stored = { store: deps.readStore, name: collectionName(projection.collection.name, build) };
    const folded = { store: deps.scratch, name: projection.collection.name };
    for (const [side, other] of [
      [stored, folded],
      [folded, stored],
    ] as const)
      for await (const page of documentPages(side.store, side.name, { limit: PAGE })) {
        const ids = page.map(({ _id }) => _id);
        const others = byId(await other.store.getMany(other.name, ids));
        if (side === stored) documents += page.length;
        for (const document of page) {
          const same = others.get(document._id);
          // Those that both have are compared once.
          if (side === folded && same) continue;
          if (!same || fieldsThatDiffer(document, same).length > 0)
            suspects.push({ projection: projection.name, id: document._id });
        }
      }
  }
  let differences: Difference[] = [];
  for (let look = 1; suspects.length > 0 && look <= LOOKS; look++) {
    if (look > 1) await pause(BETWEEN_LOOKS_MS);
    differences = await lookAgain(deps, group, build, suspects);
    suspects = differences.map(({ projection, id }) => ({ projection, id }));
  }
  return { position, documents, differences };
}

/** Each as of its own last event, up to which the log is folded on: a running service may have changed it since. */
async function lookAgain(
  deps: Deps,
  group: ProjectionGroup,
  build: Build,
  suspects: readonly Suspect[],
): Promise<Difference[]> {
  const looks: { projection: string; id: string; stored: Document | undefined }[] = [];
  for (const { name, collection } of group.projections) {
    const ids = suspects.filter(({ projection }) => projection === name).map(({ id }) => id);
    const stored = byId(await deps.readStore.getMany(collectionName(collection.name, build), ids));
    looks.push(...ids.map((id) => ({ projection: name, id, stored: stored.get(id) })));
  }
  const at = ({ stored }: { stored: Document | undefined }) => (stored?._position ?? "").replace(/\++$/, "");
  const differences: Difference[] = [];
  for (const look of looks.sort((a, b) => (at(a) < at(b) ? -1 : 1))) {
    const { projection, id, stored } = look;
    const position = await foldTo(deps, group, build, at(look));
    const collection = group.projections.find(({ name }) => name === projection)?.collection.name ?? "";
    const folded = await deps.scratch.get(collection, id);
    // One that is not stored may have been made since the log was last folded on.
    const problem = !stored ? "missing" : !folded ? "unexpected" : "different";
    const fields = stored && folded ? fieldsThatDiffer(stored, folded) : [];
    if (stored && folded && fields.length === 0) continue;
    differences.push({ projection, id, position, problem, fields });
  }
  return differences;
}

/** Folds on to the position, unless it is reached already. Returns where the folded documents are. */
async function foldTo(
  deps: Deps,
  group: ProjectionGroup,
  build: Build,
  position: Position,
): Promise<Position> {
  const reached = (await deps.scratch.checkpoint(checkpointName(group, { build: 0 })))?.position ?? START;
  if (position <= reached) return reached;
  const eventStore = upTo(deps.eventStore, position);
  await foldScratch({ ...deps, eventStore, readStore: deps.scratch }, group, build.rules);
  return position;
}

async function positionOf({ readStore }: Deps, group: ProjectionGroup, build: Build): Promise<Position> {
  return (await readStore.checkpoint(checkpointName(group, build)))?.position ?? START;
}

function byId(documents: readonly Document[]): Map<string, Document> {
  return new Map(documents.map((document) => [document._id, document]));
}
