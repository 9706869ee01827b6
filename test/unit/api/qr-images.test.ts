// The images of GET /api/qr/{slug}: they scan, have the requested look, and are drawn one at a time.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import fc from "fast-check";
import jsqr from "jsqr";
import { PNG } from "pngjs";
import qrcode from "qrcode";
import { describe, expect, it } from "vitest";
import { prepareZXingModule, readBarcodes } from "zxing-wasm/reader";
import { PLAIN_STYLE, type QrLook } from "../../../src/events/links/qr-look.ts";
import { drawQr, oneByOne } from "../../../src/qr/draw-qr.ts";

const TEXT = "https://lnk.example/k7m2pqx?qr=1";
const LONG = `https://${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.example.org/${"s".repeat(50)}?qr=1`;
const { logo: _, ...style } = PLAIN_STYLE;
const look: QrLook = { ...style, format: "png", size: 512 };

const draw = async (text: string, more: Partial<QrLook>) => {
  const wanted = { ...look, ...more };
  return PNG.sync.read(Buffer.from((await drawQr(text, wanted)) as Uint8Array));
};

/** Whatever a frame's words may be of. */
const LETTERS = [..."abcxyz ÄéñçåØß1234567890.,:!?-+/&@#%€$'\"()→↑↓"];

function onlyRefused(error: unknown): undefined {
  expect(error).toMatchObject({ code: "unscannable_qr" });
}

describe("a QR image", () => {
  it.each<[string, Partial<QrLook>]>([
    [TEXT, {}],
    [TEXT, { size: 99, margin: 2, ecc: "L" }],
    [TEXT, { size: 2048, margin: 2, ecc: "H" }],
    [TEXT, { size: 333, margin: 20, ecc: "Q" }],
    [TEXT, { dark: "#1a2b3c", light: "#fe9" }],
    [LONG, { size: 400, ecc: "H" }],
    [LONG, { size: 1000, ecc: "H" }],
  ])("of %s with %j is read by a scanner, and has a pixel right for every module", async (text, more) => {
    const { width, height, data } = await draw(text, more);
    const { ecc, margin, size } = { ...look, ...more };
    const { modules } = qrcode.create(text, { errorCorrectionLevel: ecc });
    const across = modules.size + 2 * margin;
    expect([width, height]).toEqual([size, size]);
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
    expect(await pixel("#abbccd")).toEqual([0xab, 0xbc, 0xcd, 255]);
    expect(await pixel("#1a2b3c20")).toEqual([0x1a, 0x2b, 0x3c, 0x20]);
    expect(await pixel("#abc")).toEqual([0xaa, 0xbb, 0xcc, 255]);
    expect(await pixel("#abc0")).toEqual([0xaa, 0xbb, 0xcc, 0]);
  });

  it("is a few kilobytes at most", async () => {
    const png = await drawQr(TEXT, { ...look, ecc: "H", size: 2048, margin: 2 });
    expect(png.length).toBeLessThan(10_000);
  });
});

describe("a QR code that nobody could scan", () => {
  it.each<[string, Partial<QrLook>, string]>([
    ["of two colours that are alike", { dark: "#777777", light: "#999999" }, "contrast of 3 : 1"],
    ["of a pale colour", { dark: "#ffee00" }, "contrast of 3 : 1"],
    ["that is inverted", { dark: "#ffffff", light: "#000000" }, "darker than light"],
    ["of a colour that shines through", { dark: "#00000080" }, "must not be transparent"],
    ["of nothing", { dark: "#00000000" }, "must not be transparent"],
    ["whose squares have less than three pixels", { size: 64 }, "size must be at least 111"],
    ["whose margin takes them", { size: 180, margin: 20 }, "size must be at least"],
    ["with hardly a margin", { margin: 1 }, "margin must be at least 2"],
  ])("%s is refused, and it says why", async (_, more, why) => {
    await expect(drawQr(TEXT, { ...look, ...more })).rejects.toMatchObject({
      code: "unscannable_qr",
      message: expect.stringContaining(why),
    });
  });

  it.each(["Привет", "日本", "a\u0000b", "<b>"])(
    "has words that can't be drawn, such as %j, and is refused",
    async (frame) => {
      await expect(drawQr(TEXT, { ...look, frame })).rejects.toMatchObject({
        ...{ code: "unscannable_qr", field: "frame", message: expect.stringContaining("can't be drawn") },
      });
    },
  );

  it("is no other: whatever is drawn is read by ZXing", async () => {
    const wasm = await readFile(
      createRequire(import.meta.url).resolve("zxing-wasm/reader/zxing_reader.wasm"),
    );
    prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(wasm).buffer } });
    const colour = (min: number, max: number) =>
      fc
        .array(fc.integer({ min, max }), { minLength: 3, maxLength: 3 })
        .map((parts) => `#${Buffer.from(parts).toString("hex")}`);
    const looks = fc.record({
      ...{ size: fc.integer({ min: 64, max: 600 }), margin: fc.integer({ min: 0, max: 8 }) },
      ...{ dark: colour(0, 160), light: colour(120, 255), ecc: fc.constantFrom("L", "M", "Q", "H") },
      shape: fc.constantFrom("square", "rounded"),
      frame: fc.oneof(fc.constant(""), fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 24 })),
    });
    let drawn = 0;
    const drawnAndRead = async (text: string, more: Partial<QrLook>) => {
      const image = await drawQr(text, { ...look, ...more }).catch(onlyRefused);
      if (!image) return;
      drawn += 1;
      const { data, width, height } = PNG.sync.read(Buffer.from(image as Uint8Array));
      const pixels = new Uint8ClampedArray(data);
      const [code] = await readBarcodes({ data: pixels, width, height, colorSpace: "srgb" } as never, {
        formats: ["QRCode"],
        tryInvert: false,
      });
      expect(code?.text).toBe(text);
    };
    await fc.assert(fc.asyncProperty(fc.constantFrom(TEXT, LONG), looks, drawnAndRead), { numRuns: 250 });
    expect(drawn).toBeGreaterThan(10);
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
