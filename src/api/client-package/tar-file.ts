// Writes a tar archive (POSIX ustar), the form of npm's packages.

/** npm's own for every file, so that the same files are the same bytes. */
const SECONDS = 499_162_500;
const BLOCK = 512;

/** `files`: by paths of at most 100 bytes. */
export function tarFile(files: ReadonlyMap<string, Buffer>): Buffer {
  const blocks = [...files].flatMap(([path, bytes]) => [
    headerOf(path, bytes.length),
    bytes,
    Buffer.alloc(-bytes.length & (BLOCK - 1)),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function headerOf(path: string, bytes: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  // Name, mode, owner, group, size, time; the sum is made with spaces in its place.
  const fields: [at: number, text: string][] = [
    [0, path],
    [100, octal(0o644, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(bytes, 11)],
    [136, octal(SECONDS, 11)],
    [148, " ".repeat(8)],
    [156, "0"],
    [257, "ustar\u000000"],
  ];
  for (const [at, text] of fields) header.write(text, at, "latin1");
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${octal(sum, 6)} `, 148, "latin1");
  return header;
}
