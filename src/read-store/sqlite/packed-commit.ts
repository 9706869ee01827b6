// A commit on its way to the thread that writes it: the JSON of its documents is in memory that both threads share.
import type { CommitStatements } from "./synchronous-read-store.ts";

/** `ends`: where the document of each row ends in the memory; the first begins at 0, each other where the last one ended. */
export type PackedCommit = Pick<CommitStatements, "checkpoints"> & {
  memory: SharedArrayBuffer;
  upserts: readonly (Omit<CommitStatements["upserts"][number], "documents"> & { ends: readonly number[] })[];
};

/** Of UTF-8, for each UTF-16 code unit of a string. */
const MAX_BYTES = 3;
const MIN_MEMORY_BYTES = 4 * 1024 * 1024;

/** `memory`: of an earlier commit, used again when it is large enough. */
export function packed(
  { upserts, checkpoints }: CommitStatements,
  memory: SharedArrayBuffer | undefined,
): PackedCommit {
  const needed = bytesOf(upserts);
  const own = memory && memory.byteLength >= needed ? memory : newMemory(needed);
  const bytes = Buffer.from(own);
  let end = 0;
  const packedUpserts = upserts.map(({ documents, ...upsert }) => {
    const ends = documents.map((document) => {
      end += bytes.write(document as string, end);
      return end;
    });
    return { ...upsert, ends };
  });
  return { memory: own, upserts: packedUpserts, checkpoints };
}

/** Its documents are views of the memory, which must stay as it is until they are written. */
export function unpacked({ memory, upserts, checkpoints }: PackedCommit): CommitStatements {
  const bytes = new Uint8Array(memory);
  let start = 0;
  const unpackedUpserts = upserts.map(({ ends, ...upsert }) => {
    const documents = ends.map((end) => {
      const document = bytes.subarray(start, end);
      start = end;
      return document;
    });
    return { ...upsert, documents };
  });
  return { upserts: unpackedUpserts, checkpoints };
}

function bytesOf(upserts: CommitStatements["upserts"]): number {
  let units = 0;
  for (const { documents } of upserts) for (const document of documents) units += document.length;
  return units * MAX_BYTES;
}

/** With room to spare, so that commits of about the same size use it again; the system provides a page when it is written. */
function newMemory(needed: number): SharedArrayBuffer {
  return new SharedArrayBuffer(Math.max(MIN_MEMORY_BYTES, 2 * needed));
}
