// The log of the bare recorder: a table of compressed batches of clicks in columns, with an fsync a commit.
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { openLogDatabase } from "../databases.ts";

/** One click as it is recorded: the six values that it counts as are worked out when it is counted. */
export type BareClick = {
  link: string;
  at: string;
  userAgent: string;
  language: string;
  referrer: string;
  address: string;
  visitor: string;
  accountVisitor: string;
  country: string;
  city: string;
};

/** The clicks that follow those that were read before. */
export type NewClicks = { clicks: BareClick[]; mayBeMore: boolean };

/** Members of a hit, which come in turn and are the first of the click: up to its address. */
export const HIT_MEMBERS = 6;
const MEMBERS = [
  ...(["link", "at", "userAgent", "language", "referrer", "address"] as const),
  ...(["visitor", "accountVisitor", "country", "city"] as const),
];
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export function openBareLog(folder: string) {
  const db = openLogDatabase(folder, "bare-log.db");
  db.exec("CREATE TABLE IF NOT EXISTS batches (position INTEGER PRIMARY KEY, body BLOB NOT NULL)");
  const insert = db.prepare("INSERT INTO batches (body) VALUES (?)");
  const after = db.prepare("SELECT position, body FROM batches WHERE position > ? ORDER BY position LIMIT ?");
  return {
    append(clicks: readonly BareClick[]): void {
      const columns = MEMBERS.map((member) => clicks.map((click) => click[member]));
      insert.run(zstdCompressSync(JSON.stringify(columns), FAST));
    },
    /** At most `limit` batches after a position, which is 0 before the first. */
    read(position: number, limit: number): { position: number; clicks: BareClick[] }[] {
      const rows = after.all(position, limit) as { position: number; body: Uint8Array }[];
      return rows.map(({ position, body }) => ({ position, clicks: clicksOf(body) }));
    },
    close: () => db.close(),
  };
}

function clicksOf(body: Uint8Array): BareClick[] {
  const columns = JSON.parse(zstdDecompressSync(body).toString("utf8")) as string[][];
  const clicks: BareClick[] = [];
  const count = columns[0]?.length ?? 0;
  for (let n = 0; n < count; n++) {
    const of = (column: number) => (columns[column] as string[])[n] as string;
    clicks.push({
      link: of(0),
      at: of(1),
      userAgent: of(2),
      language: of(3),
      referrer: of(4),
      address: of(5),
      visitor: of(6),
      accountVisitor: of(7),
      country: of(8),
      city: of(9),
    });
  }
  return clicks;
}
