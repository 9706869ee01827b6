// QR images as they are asked for: kept while there is room, else drawn, one after the other and each of them once.
import { LRUCache } from "lru-cache";
import type { QRCode } from "qrcode";
import { DomainError } from "../../runtime/errors.ts";
import { pause } from "../../runtime/pause.ts";
import { drawPng, drawSvg, type QrLook, qrModules } from "./draw-qr.ts";

/** More are waiting than can be drawn in a few seconds. */
export class TooManyQrImages extends DomainError {
  override readonly code = "qr_busy";
  constructor() {
    super("Too many QR images are being drawn");
  }
}

export type QrImages = {
  /** `id`: the same for the same text and look, and for no other. @throws TooManyQrImages */
  image(id: string, text: string, look: QrLook): Promise<string | Buffer>;
};

export type QrImagesOptions = {
  /** Of all images kept. */
  maxBytes?: number;
  maxWaiting?: number;
  draw?: (text: string, look: QrLook) => Promise<string | Buffer>;
};

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_MODULES = 4 * 1024 * 1024;
const MAX_WAITING = 500;
/** What an entry takes besides its image, about. */
const OVERHEAD_BYTES = 300;

export function qrImages(options: QrImagesOptions = {}): QrImages {
  const { maxBytes = MAX_BYTES, maxWaiting = MAX_WAITING, draw = drawer() } = options;
  const kept = new LRUCache<string, string | Buffer>({
    maxSize: maxBytes,
    sizeCalculation: (image) => image.length + OVERHEAD_BYTES,
  });
  /** Settles when the thread is free for the next image. */
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
      if (waiting >= maxWaiting) throw new TooManyQrImages();
      waiting += 1;
      const drawing = turn.then(() => keptOrDrawn(id, text, look));
      // However many are asked for, half of the time is left for redirects; the busier the machine, the longer the rest.
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

/** Keeps the modules too: other sizes and colours of the same link then cost a fraction. */
function drawer() {
  const known = new LRUCache<string, QRCode>({
    maxSize: MAX_MODULES,
    // One byte a module, and another for whether it is reserved.
    sizeCalculation: ({ modules }) => 2 * modules.size ** 2 + OVERHEAD_BYTES,
  });
  return async (text: string, look: QrLook): Promise<string | Buffer> => {
    if (look.format === "svg") return drawSvg(text, look);
    const id = `${look.ecc} ${text}`;
    const code = known.get(id) ?? qrModules(text, look.ecc);
    known.set(id, code);
    return drawPng(code, look);
  };
}
