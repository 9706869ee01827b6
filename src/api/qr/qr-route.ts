// GET /api/qr/{slug}: the QR code of a link's URL with `?qr=1`, so that scans are counted as `qr_scan`.
import { hash } from "node:crypto";
import pLimit from "p-limit";
import { z } from "zod";
import { orNotBuilt } from "../../projections/builds/errors.ts";
import { type BrandDocument, brands } from "../../projections/definitions/brands.ts";
import { findLinkBySlug, type ReadableLinkDeps } from "../../queries/links/find-link.ts";
import { Refused } from "../../runtime/refused.ts";
import { isKnown } from "../conditional-requests.ts";
import type { Api } from "../fastify.ts";
import { apiErrors, DomainIdQuery, SlugParams } from "../schemas.ts";
import type { DrawQr } from "./draw-qr.ts";
import { LEAST, type QrLook } from "./scannable.ts";

const COLOUR = /^#?(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/;
const colour = z
  .string()
  .regex(COLOUR, "must be a hex colour such as 1a2b3c")
  .transform((text) => `#${text.replace("#", "")}`);
/** Bytes, which JSON Schema can't say. */
const PNG = z.any().meta({ type: "string", format: "binary" });
const CACHED_SECONDS = 3600;
/** Part of each ETag; must be raised when a change makes the same request return other bytes. */
const IMAGE_VERSION = 5;

const Query = z.object({
  format: z.enum(["png", "svg"]).default("png"),
  size: z.coerce.number().int().min(64).max(2048).default(512).meta({ description: "Width in pixels" }),
  margin: z.coerce.number().int().min(LEAST.margin).max(20).default(4).meta({ description: "In modules" }),
  dark: colour.default("#000000").meta({ examples: ["1a2b3c"] }),
  light: colour.default("#ffffff").meta({ examples: ["ffffff00"] }),
  ecc: z.enum(["L", "M", "Q", "H"]).default("M").meta({ description: "Error correction level" }),
  logo: z.enum(["true", "false"]).default("false").meta({
    description:
      "`true`: the account's logo in the middle, where it has set one in the portal; `ecc` is then `H`",
  }),
  domain_id: DomainIdQuery,
});

/** `drawQr`: in another thread. */
export function qrRoute(app: Api, deps: ReadableLinkDeps & { drawQr: DrawQr }): void {
  const draw = oneByOne(deps.drawQr);
  const schema = {
    operationId: "getQrCode",
    summary: "The QR code of a link",
    description: `No authentication. Scans of it are counted as \`qr_scan\`. What nobody could scan is refused: \`dark\` must be
opaque and darker than \`light\` by ${LEAST.contrast} : 1, and a module of a PNG have ${LEAST.pixels} pixels.`,
    tags: ["Links"],
    security: [],
    params: SlugParams,
    querystring: Query,
    response: {
      200: {
        description: "The image",
        content: { "image/png": { schema: PNG }, "image/svg+xml": { schema: z.string() } },
      },
      304: z.undefined().describe("Not changed since the ETag in If-None-Match"),
      ...apiErrors(400, 404),
    },
  };
  app.get("/api/qr/:slug", { schema }, async (request, reply) => {
    const { domain_id: domainId, logo: wanted, ...plain } = request.query;
    const link = await findLinkBySlug(deps, request.params.slug, domainId);
    if (!link) throw new Refused("not_found", "Short link not found.");
    const text = `${link.shortUrl}?qr=1`;
    const logo = wanted === "true" ? await logoOf(deps, link.accountId) : undefined;
    const look: QrLook = logo === undefined ? plain : { ...plain, ecc: "H", logo };
    const etag = `"${hash("sha256", JSON.stringify([IMAGE_VERSION, text, look]), "base64url").slice(0, 22)}"`;
    // A logo may be another one at any time; asking whether it is draws nothing.
    const caching = wanted === "true" ? "no-cache" : `max-age=${CACHED_SECONDS}`;
    reply.header("etag", etag).header("cache-control", `public, ${caching}`);
    if (isKnown(request.headers["if-none-match"], etag)) return reply.code(304).send();
    const image = await draw(text, look);
    return reply.type(look.format === "svg" ? "image/svg+xml" : "image/png").send(image);
  });
}

async function logoOf({ readStore }: ReadableLinkDeps, accountId: string): Promise<string | undefined> {
  const brand = await orNotBuilt(readStore.get<BrandDocument>(brands.collection.name, accountId));
  return brand?.logo ?? undefined;
}

const MAX_WAITING = 500;

/** Draws one image at a time, so that what else the thread does goes on between two. @throws qr_busy */
export function oneByOne(draw: DrawQr, maxWaiting = MAX_WAITING): DrawQr {
  const queue = pLimit(1);
  return async (text, look) => {
    if (queue.activeCount + queue.pendingCount >= maxWaiting) throw new Refused("qr_busy");
    return await queue(() => draw(text, look));
  };
}
