// Caches QR images and draws missing ones one at a time, each once.
import { LRUCache } from "lru-cache";
import { pause } from "../../runtime/pause.ts";
import { Refused } from "../../runtime/refused.ts";
import type { QrLook } from "./draw-qr.ts";

export type QrImages = {
  /** `id`: unique for text and look. @throws qr_busy */
  image(id: string, text: string, look: QrLook): Promise<string | Buffer>;
};

export type QrImagesOptions = {
  /** Size of the cache. */
  maxBytes?: number;
  maxWaiting?: number;
  draw?: (text: string, look: QrLook) => Promise<string | Buffer>;
};

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_WAITING = 500;
/** Estimated size of a cache entry without its image. */
const OVERHEAD_BYTES = 300;

export function qrImages(options: QrImagesOptions = {}): QrImages {
  const { maxBytes = MAX_BYTES, maxWaiting = MAX_WAITING, draw = drawn } = options;
  const kept = new LRUCache<string, string | Buffer>({
    maxSize: maxBytes,
    sizeCalculation: (image) => image.length + OVERHEAD_BYTES,
  });
  /** Resolves when the next image may be drawn. */
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function keptOrDrawn(id: string, text: string, look: QrLook) {
    const known = kept.get(id);
    if (known !== undefined) return { image: known, tookMs: 0 };
    const startedAt = performance.now();
    const image = await draw(text, look);
    kept.set(id, image);
    return { image, tookMs: performance.now() - startedAt };
  }

  return {
    async image(id, text, look) {
      const known = kept.get(id);
      if (known !== undefined) return known;
      if (waiting >= maxWaiting) throw new Refused("qr_busy");
      waiting += 1;
      const drawing = turn.then(() => keptOrDrawn(id, text, look));
      // Throttle: pause as long as the drawing took, so that at least half of the event loop's time is left for redirects.
      turn = drawing.then(
        ({ tookMs }) => (tookMs > 0 ? pause(tookMs) : undefined),
        () => undefined,
      );
      try {
        return (await drawing).image;
      } finally {
        waiting -= 1;
      }
    },
  };
}

async function drawn(text: string, look: QrLook): Promise<string | Buffer> {
  const { drawPng, drawSvg } = await import("./draw-qr.ts");
  return look.format === "svg" ? drawSvg(text, look) : drawPng(text, look);
}
