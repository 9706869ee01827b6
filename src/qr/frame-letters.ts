// The letters of the words on a QR code's frame, as strokes: capitals of Latin script with their marks, digits and signs, so
// that they look the same in every format, and no font has to be there.

/** x1, y1, x2, y2 of a line, where a capital is 1 high and y goes down. */
type Stroke = readonly [number, number, number, number];

/** Of the grid on which letters are drawn: points are `xy`, 0 to 4 from the left and 0 to 6 from the top. */
const ROWS = 6;
const GAP = 1.6;
const SPACE = 2.4;

/** Lines apart by spaces, each through its points. */
const LETTERS: Readonly<Record<string, string>> = {
  A: "062046 1434",
  B: "0006364540 003041423303",
  C: "4130100105163645",
  D: "000626444220 0020",
  E: "40000646 0333",
  F: "400006 0333",
  G: "41301001051636454323",
  H: "0006 4046 0343",
  I: "0006",
  J: "404536160504",
  K: "0006 400346",
  L: "000646",
  M: "0600234046",
  N: "06004640",
  O: "100105163645413010",
  P: "060030414233 0333",
  Q: "100105163645413010 2446",
  R: "060030414233 0333 2346",
  S: "4130100102134344453616 1605",
  T: "0040 2026",
  U: "000516364540",
  V: "002640",
  W: "0016233640",
  X: "0046 4006",
  Y: "002340 2326",
  Z: "00400646",
  0: "100105163645413010 1531",
  1: "012026 0646",
  2: "0110304142060646",
  3: "0030414233 13334445361605",
  4: "36300444",
  5: "4000023243453606",
  6: "4130100105163645443303",
  7: "004016",
  8: "100102133342413010 1304051636454433",
  9: "0516364541301001021343",
  Ø: "100105163645413010 0640",
  Æ: "06204046 2026 0323 2333 2646",
  Ð: "000626444220 0020 0323",
  Þ: "0006 013142443505",
  Ł: "000646 0422",
  ".": "0606",
  ",": "1607",
  ":": "0202 0606",
  "!": "0004 0606",
  "?": "01103041422324 2626",
  "-": "0323",
  "–": "0343",
  "+": "0343 2125",
  "/": "0630",
  "&": "4612112031320405162644",
  "@": "5616050110405154 54242252",
  "#": "1006 3026 0242 0444",
  "%": "0640 0101 4545",
  "€": "4130100105163645 0232 0434",
  $: "4130100102134344361605 2027",
  "'": "0001",
  "’": "1001",
  '"': "0001 2021",
  "(": "10010516",
  ")": "00111506",
  "→": "0343 214325",
  "↑": "2620 022042",
  "↓": "2026 042644",
};
/**
 * Over a capital, by the combining characters of Unicode: in halves of the grid, above its top. Points are `x y`, with commas
 * between those of a line and semicolons between lines.
 */
const MARKS: Readonly<Record<string, string>> = {
  "\u0300": "1.2 -2.2, 2.4 -1.2",
  "\u0301": "2.8 -2.2, 1.6 -1.2",
  "\u0302": "0.8 -1.2, 2 -2.2, 3.2 -1.2",
  "\u0303": "0.6 -1.3, 1.5 -2, 2.5 -1.3, 3.4 -2",
  "\u0308": "0.9 -1.6, 0.9 -1.6; 3.1 -1.6, 3.1 -1.6",
  "\u030a": "1.2 -1.6, 2 -2.4, 2.8 -1.6, 2 -0.9, 1.2 -1.6",
  "\u030b": "1.6 -2.2, 0.8 -1.2; 3.2 -2.2, 2.4 -1.2",
  "\u030c": "0.8 -2.2, 2 -1.2, 3.2 -2.2",
  "\u0304": "0.9 -1.6, 3.1 -1.6",
  "\u0306": "0.9 -2.2, 2 -1.3, 3.1 -2.2",
  "\u0307": "2 -1.6, 2 -1.6",
  "\u0327": "2.2 6, 1.7 7.6",
  "\u0328": "3 6, 3.2 7.6",
};
/** Letters whose marks stand over a narrower letter. */
const MIDDLE = 2;

/** Characters that stand for those that are drawn. */
const SPELT: Readonly<Record<string, string>> = { Œ: "OE", "‘": "'", "“": '"', "”": '"', "„": '"', "—": "–" };

/** As they are drawn: capitals, and marks apart from them. */
function charactersOf(words: string): string[] {
  const plain = [...words.toUpperCase()].map((character) => SPELT[character] ?? character).join("");
  return [...plain.normalize("NFD").replace(/\s+/g, " ").trim()];
}

/** The first character that can't be drawn. */
export function undrawable(words: string): string | undefined {
  return charactersOf(words).find((at) => at !== " " && !(at in LETTERS) && !(at in MARKS));
}

/** Of a line of words from 0 on; `length` as a multiple of the height of a capital. */
export function letterStrokes(words: string): { strokes: Stroke[]; length: number } {
  const strokes: Stroke[] = [];
  let [left, width] = [0, 0];
  const add = (at: number, [x1, y1, x2, y2]: Stroke) =>
    strokes.push([(at + x1) / ROWS, y1 / ROWS, (at + x2) / ROWS, y2 / ROWS]);
  let next = 0;
  for (const character of charactersOf(words)) {
    if (character === " ") {
      next += SPACE;
      continue;
    }
    const mark = MARKS[character];
    if (mark !== undefined) {
      for (const line of linesOf(mark.split(";"), pointsOfMark)) add(left + width / 2 - MIDDLE, line);
      continue;
    }
    const lines = linesOf((LETTERS[character] ?? "").split(" "), pointsOfLetter);
    left = next;
    width = Math.max(0, ...lines.flatMap(([x1, , x2]) => [x1, x2]));
    for (const line of lines) add(left, line);
    next = left + width + GAP;
  }
  return { strokes, length: Math.max(1, next - GAP) / ROWS };
}

function linesOf(lines: readonly string[], pointsOf: (line: string) => number[][]): Stroke[] {
  return lines.map(pointsOf).flatMap((points) =>
    points.slice(1).map(([x = 0, y = 0], n): Stroke => {
      const [fromX = 0, fromY = 0] = points[n] ?? [];
      return [fromX, fromY, x, y];
    }),
  );
}

function pointsOfLetter(line: string): number[][] {
  return (line.match(/../g) ?? []).map((point) => [...point].map(Number));
}

function pointsOfMark(line: string): number[][] {
  return line.split(",").map((point) => point.trim().split(" ").map(Number));
}
