// The images of GET /api/qr/{slug}: they scan, have the requested look, and are drawn one at a time.
import jsqr from "jsqr";
import { PNG } from "pngjs";
import qrcode from "qrcode";
import { describe, expect, it } from "vitest";
import { drawPng, type QrLook } from "../../../src/api/qr/draw-qr.ts";
import { oneByOne } from "../../../src/api/qr/qr-route.ts";

const TEXT = "https://lnk.example/k7m2pqx?qr=1";
const LONG = `https://${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.example.org/${"s".repeat(50)}?qr=1`;
const look: QrLook = { format: "png", size: 512, margin: 4, dark: "#000000", light: "#ffffff", ecc: "M" };

const draw = async (text: string, more: Partial<QrLook>) => {
  const wanted = { ...look, ...more };
  return PNG.sync.read(await drawPng(text, wanted));
};

describe("a QR image", () => {
  it.each<[string, Partial<QrLook>]>([
    [TEXT, {}],
    [TEXT, { size: 64, margin: 0, ecc: "L" }],
    [TEXT, { size: 2048, margin: 0, ecc: "H" }],
    [TEXT, { size: 333, margin: 20, ecc: "Q" }],
    [TEXT, { dark: "#1a2b3c", light: "#fe9" }],
    [LONG, { size: 64, ecc: "H" }],
    [LONG, { size: 1000, ecc: "H" }],
  ])("of %s with %j is read by a scanner, and has a pixel right for every module", async (text, more) => {
    const { width, height, data } = await draw(text, more);
    const { ecc, margin, size } = { ...look, ...more };
    const { modules } = qrcode.create(text, { errorCorrectionLevel: ecc });
    const across = modules.size + 2 * margin;
    expect([width, height]).toEqual(size < across ? [across * 4, across * 4] : [size, size]);
    expect(jsqr.default(new Uint8ClampedArray(data), width, height)?.data).toBe(text);
    // The centre of each module.
    const pixelOf = (module: number) => Math.floor(((module + 0.5) * width) / across);
    const brightness = (row: number, column: number) =>
      data[(pixelOf(row) * width + pixelOf(column)) * 4] ?? -1;
    const wrong = [];
    for (let row = 0; row < across; row++)
      for (let column = 0; column < across; column++) {
        const [r, c] = [row - margin, column - margin];
        const isInside = Math.min(r, c) >= 0 && Math.max(r, c) < modules.size;
        const isDark = isInside && modules.get(r, c) === 1;
        if (brightness(row, column) < 128 !== isDark) wrong.push([row, column]);
      }
    expect(wrong).toEqual([]);
  });

  it("keeps colours and transparency in all four notations", async () => {
    const pixel = async (light: string) => [...(await draw(TEXT, { light })).data.subarray(0, 4)];
    expect(await pixel("#1a2b3c")).toEqual([0x1a, 0x2b, 0x3c, 255]);
    expect(await pixel("#1a2b3c80")).toEqual([0x1a, 0x2b, 0x3c, 0x80]);
    expect(await pixel("#abc")).toEqual([0xaa, 0xbb, 0xcc, 255]);
    expect(await pixel("#abc0")).toEqual([0xaa, 0xbb, 0xcc, 0]);
  });

  it("is a few kilobytes at most", async () => {
    const png = await drawPng(TEXT, { ...look, ecc: "H", size: 2048, margin: 0 });
    expect(png.length).toBeLessThan(10_000);
  });
});

describe("QR images", () => {
  it("are drawn one after the other, are refused while too many wait, and drawn again afterwards", async () => {
    const drawn: string[] = [];
    let [atOnce, most] = [0, 0];
    const draw = oneByOne(async (text: string) => {
      most = Math.max(most, ++atOnce);
      drawn.push(text);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce -= 1;
      if (text === "1") throw new TypeError("can't be drawn");
      return text;
    }, 3);
    const outcomes = await Promise.allSettled(["0", "1", "2", "3"].map((text) => draw(text, look)));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
    expect(outcomes[3]).toMatchObject({ reason: { code: "qr_busy" } });
    expect(await draw("4", look)).toBe("4");
    expect([drawn, most]).toEqual([["0", "1", "2", "4"], 1]);
  });
});
