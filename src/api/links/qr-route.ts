// GET /api/qr/{slug}: the QR code of a link's URL with `?qr=1`, so that scans are counted as `qr_scan`.
import { hash } from "node:crypto";
import { z } from "zod";
import { Refused } from "../../commands/refusals.ts";
import {
  ACCOUNT_STYLE,
  LEAST,
  lookOf,
  PLAIN_STYLE,
  qrStyle,
  scannedUrl,
} from "../../events/links/qr-look.ts";
import { orNotBuilt } from "../../projections/builds/errors.ts";
import { type BrandDocument, brands } from "../../projections/definitions/brands.ts";
import type { DrawQr } from "../../qr/draw-qr.ts";
import { findLinkBySlug, type ReadableLinkDeps } from "../../queries/links/find-link.ts";
import { isKnown } from "../conditional-requests.ts";
import type { Api } from "../fastify.ts";
import { apiErrors, DomainIdQuery, SlugParams } from "../schemas.ts";

/** Bytes, which JSON Schema can't say. */
const BYTES = z.any().meta({ type: "string", format: "binary" });
const CACHED_SECONDS = 3600;
/** Part of each ETag; must be raised when a change makes the same request return other bytes. */
const IMAGE_VERSION = 7;

const FORMATS = { png: "image/png", svg: "image/svg+xml", pdf: "application/pdf" } as const;
const optional = Object.fromEntries(
  Object.entries(qrStyle).map(([name, schema]) => [name, schema.optional().meta(schema.meta() ?? {})]),
) as { [S in keyof typeof qrStyle]: z.ZodOptional<(typeof qrStyle)[S]> };

const Query = z.object({
  format: z.enum(["png", "svg", "pdf"]).default("png"),
  size: z.coerce.number().int().min(64).max(2048).default(512).meta({ description: "Width in pixels" }),
  ...optional,
  look: z.literal("account").optional().meta({
    description:
      "`account`: as the account's QR codes look, which is chosen in the portal; parameters that are given come first",
  }),
  logo: z.enum(["true", "false"]).optional().meta({
    default: "false",
    description:
      "`true`: the account's logo in the middle, where it has set one in the portal; `ecc` is then `H`",
  }),
  domain_id: DomainIdQuery,
});

/** `drawQr`: in another thread. */
export function qrRoute(app: Api, deps: ReadableLinkDeps & { drawQr: DrawQr }): void {
  const schema = {
    operationId: "getQrCode",
    summary: "The QR code of a link",
    description: `No authentication. Scans of it are counted as \`qr_scan\`. What nobody could scan is refused: \`dark\` must be
opaque and darker than \`light\` by ${LEAST.contrast} : 1, and a module of a PNG have ${LEAST.pixels} pixels. PDF has the same
paths as SVG, 96 pixels an inch; both can be printed at any size.`,
    tags: ["Links"],
    security: [],
    params: SlugParams,
    querystring: Query,
    response: {
      200: {
        description: "The image",
        content: {
          [FORMATS.png]: { schema: BYTES },
          [FORMATS.svg]: { schema: z.string() },
          [FORMATS.pdf]: { schema: BYTES },
        },
      },
      304: z.undefined().describe("Not changed since the ETag in If-None-Match"),
      ...apiErrors(400, 404),
    },
  };
  app.get("/api/qr/:slug", { schema }, async (request, reply) => {
    const { domain_id: domainId, look: named, logo: asked, format, size, ...given } = request.query;
    const link = await findLinkBySlug(deps, request.params.slug, domainId);
    if (!link) throw new Refused("not_found", "Short link not found.");
    const text = scannedUrl(link.shortUrl);
    const isBranded = named !== undefined || asked === "true";
    const brand = isBranded ? await brandOf(deps, link.accountId) : undefined;
    const style = {
      ...PLAIN_STYLE,
      ...(named && (brand?.qr ?? ACCOUNT_STYLE)),
      ...withoutUndefined(given),
      ...(asked !== undefined && { logo: asked === "true" }),
    };
    const look = lookOf(style, brand?.logo, { format, size });
    const etag = `"${hash("sha256", JSON.stringify([IMAGE_VERSION, text, look]), "base64url").slice(0, 22)}"`;
    // What the account chooses may be another thing at any time; asking whether it is draws nothing.
    const caching = isBranded ? "no-cache" : `max-age=${CACHED_SECONDS}`;
    reply.header("etag", etag).header("cache-control", `public, ${caching}`);
    if (isKnown(request.headers["if-none-match"], etag)) return reply.code(304).send();
    return reply.type(FORMATS[format]).send(await deps.drawQr(text, look));
  });
}

async function brandOf(
  { readStore }: ReadableLinkDeps,
  accountId: string,
): Promise<BrandDocument | undefined> {
  return await orNotBuilt(readStore.get<BrandDocument>(brands.collection.name, accountId));
}

function withoutUndefined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}
