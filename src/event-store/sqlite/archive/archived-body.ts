// What stands in the place of a batch's body when its events lie in an archive file: where, and the digest of the block.
import type { StoredBatch } from "../batch-schema.ts";

/** `file`: name in the folder of archives. `offset`, `bytes`: of the block. `sha256`: of the block, hex. */
export type BlockReference = { file: string; offset: number; bytes: number; sha256: string };

/** A batch of the log whose events lie in a file. */
export type ArchivedBatch = Pick<
  StoredBatch,
  "last_position" | "count" | "stream" | "last_revision" | "body"
>;

/** First byte of such a body: neither that of a merged body nor that of zstd, so that earlier programs refuse it. */
export const ARCHIVED = 2;

export function isArchived(body: Uint8Array): boolean {
  return body[0] === ARCHIVED;
}

export function archivedBody({ file, offset, bytes, sha256 }: BlockReference): Uint8Array {
  return Buffer.concat([Buffer.of(ARCHIVED), Buffer.from(JSON.stringify([file, offset, bytes, sha256]))]);
}

export function blockReference(body: Uint8Array): BlockReference {
  const [file, offset, bytes, sha256] = JSON.parse(Buffer.from(body).toString("utf8", 1));
  return { file, offset, bytes, sha256 };
}
