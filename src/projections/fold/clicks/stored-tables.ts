// Reads tables for the fold: which days of an account are open, which chunks they have, and their rows.
import { allDocuments, documentPages } from "../../../stores/read-store/document-pages.ts";
import type { CollectionWrite, Document, ReadStore } from "../../../stores/read-store/port.ts";
import {
  CHUNK_HEAD,
  type ChunkDocument,
  type ChunkHead,
  chunksOf,
  clickTables,
} from "../../definitions/click-tables/chunk.ts";
import { type DecodedChunk, decodeChunk } from "../../definitions/click-tables/decode-chunk.ts";
import { type OpenDayDocument, openDays } from "../../definitions/summaries/open-days.ts";

/** What is done between commits, in steps: it reads what was committed, and writes beside the checkpoint. */
export type ClickWorkDeps = {
  readStore: Pick<ReadStore, "find" | "getMany" | "get">;
  /** Without moving the checkpoint, which must be unchanged. @throws CheckpointMoved, what the read store throws */
  write(documents: readonly CollectionWrite[]): Promise<void>;
};

export type AccountDay = { accountId: string; day: string };
export type StoredHead = Document & ChunkHead;

const HEADS = 500;
const OPEN_DAYS = 1_000;

/** Of the days from one to another, YYYY-MM-DD, inclusive, in the order of the days and of the first rows. */
export async function* chunkHeads(
  readStore: Pick<ReadStore, "find">,
  accountId: string,
  from?: string,
  to?: string,
): AsyncGenerator<StoredHead> {
  const search = { range: chunksOf(accountId, from, to), fields: CHUNK_HEAD, limit: HEADS };
  for await (const page of documentPages<StoredHead>(readStore, clickTables.name, search)) yield* page;
}

export async function headsOf(
  readStore: Pick<ReadStore, "find">,
  { accountId, day }: AccountDay,
): Promise<StoredHead[]> {
  return await Array.fromAsync(chunkHeads(readStore, accountId, day, day));
}

/** YYYY-MM-DD, in order. */
export async function openDaysOf(readStore: Pick<ReadStore, "find">, accountId: string): Promise<string[]> {
  const sort = { field: "day", direction: "asc" } as const;
  const search = { where: { accountId }, sort, limit: OPEN_DAYS };
  const open = await allDocuments<OpenDayDocument>(readStore, openDays.name, search);
  return open.map(({ day }) => day);
}

/** Undefined for one that was merged meanwhile. */
export async function chunkOf(
  readStore: Pick<ReadStore, "get">,
  id: string,
): Promise<DecodedChunk | undefined> {
  const document = await readStore.get<ChunkDocument>(clickTables.name, id);
  return document && decodeChunk(document);
}
