// Where the files of a ZIP archive are, by its directory (APPNOTE.TXT of PKWARE, 4.3.12 and 4.3.16), with ZIP64 (4.5.3), as
// programs write it also in small archives.

/** `method`: how it is packed. `start`, `size`: of its packed bytes in the archive. */
export type PackedFile = { method: number; start: number; size: number };

const DIRECTORY_END = Buffer.from("PK\x05\x06", "latin1");
/** Signatures, read as numbers. */
const [ENTRY, ZIP64_LOCATOR] = [0x02014b50, 0x07064b50];
/** Lengths of the parts of fixed length. */
const [ENTRY_BYTES, LOCAL_BYTES, LOCATOR_BYTES] = [46, 30, 20];
/** Id of the field with numbers that have no room in 32 bits, each of which stands for itself as all ones. */
const [ZIP64_FIELD, ALL_ONES] = [1, 0xffffffff];

/** By their names. @throws RangeError for what is no archive, or damaged */
export function filesIn(zip: Buffer): Map<string, PackedFile> {
  const [short, long] = [(at: number) => zip.readUInt16LE(at), (at: number) => zip.readUInt32LE(at)];
  const huge = (at: number) => Number(zip.readBigUInt64LE(at));
  const end = zip.lastIndexOf(DIRECTORY_END);
  if (end < 0) throw new RangeError("It has no directory");
  const isZip64 = end >= LOCATOR_BYTES && long(end - LOCATOR_BYTES) === ZIP64_LOCATOR;
  const zip64End = isZip64 ? huge(end - LOCATOR_BYTES + 8) : 0;
  let at = isZip64 ? huge(zip64End + 48) : long(end + 16);
  const files = new Map<string, PackedFile>();
  for (let left = isZip64 ? huge(zip64End + 32) : short(end + 10); left > 0; left--) {
    if (long(at) !== ENTRY) throw new RangeError("Its directory is damaged");
    const extra = at + ENTRY_BYTES + short(at + 28);
    const comment = extra + short(at + 30);
    let [size, local] = [long(at + 20), long(at + 42)];
    for (let field = extra; field < comment; field += 4 + short(field + 2)) {
      if (short(field) !== ZIP64_FIELD) continue;
      let value = long(at + 24) === ALL_ONES ? field + 12 : field + 4;
      if (size === ALL_ONES) {
        size = huge(value);
        value += 8;
      }
      if (local === ALL_ONES) local = huge(value);
      break;
    }
    const start = local + LOCAL_BYTES + short(local + 26) + short(local + 28);
    files.set(zip.toString("utf8", at + ENTRY_BYTES, extra), { method: short(at + 10), start, size });
    at = comment + short(at + 32);
  }
  return files;
}
