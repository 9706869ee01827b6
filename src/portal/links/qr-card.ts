// The QR code of a link on its page: drawn as it is chosen, to download, and kept as how all of the account's codes look.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { acceptQrStyle, keepQrLook } from "../../commands/account/brands.ts";
import { ACCOUNT_STYLE, QR_CORRECTIONS, QR_SHAPES, type QrStyle } from "../../events/links/qr-look.ts";
import type { BrandDocument } from "../../projections/definitions/brands.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { ownLinkAt } from "../../queries/links/find-link.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import { brandOf } from "../account/brand-card.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countDraft } from "../shell/change-limit.ts";
import { choice, field } from "../shell/form.ts";
import { errorOf, formRoute, type RefusedForm, type ShowAgain } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { LinkParams, linkPath, shortName } from "./link-view.ts";

const CORRECTIONS = ["Low: the largest squares", "Medium", "High", "Highest: a third may be covered"];
const DOWNLOADS = [
  ["svg", 512, "SVG"],
  ["pdf", 512, "PDF"],
  ["png", 1024, "PNG 1,024"],
  ["png", 2048, "PNG 2,048"],
] as const;
const FIELDS = ["dark", "light", "shape", "frame", "margin", "ecc", "logo"] as const;

/** What the card shows instead of what is kept. `image`: as a data URI. */
type Chosen = { style: Readonly<Record<string, unknown>>; image?: string; refused?: RefusedForm };

/** `show`: the page with its card as chosen. */
export function qrForms(
  app: Api,
  deps: PortalDeps,
  show: (
    reply: Parameters<ShowAgain>[2],
    params: z.infer<typeof LinkParams>,
    chosen: Chosen,
  ) => ReturnType<ShowAgain>,
): void {
  const form = {
    schema: { params: LinkParams, body: z.record(z.string(), z.unknown()) },
    again: (async (refused, request, reply) =>
      show(reply, LinkParams.parse(request.params), { style: refused.typed, refused })) satisfies ShowAgain,
    path: ({ params }: { params: unknown }) => linkPath(LinkParams.parse(params)),
  };
  formRoute(app, deps, "/links/:host/:slug/qr", {
    ...form,
    async run({ params, body, session: { accountId }, context }) {
      const { position } = await keepQrLook(deps, context, accountId, acceptQrStyle(body));
      return { position, to: linkPath(params), notice: "All your QR codes look so from now on." };
    },
  });
  formRoute(app, deps, "/links/:host/:slug/qr/show", {
    ...form,
    count: (session) => countDraft(deps, session),
    async run({ params, body, session: { accountId }, reply }) {
      const style = acceptQrStyle(body);
      const { shortUrl } = await ownLinkAt(deps, accountId, params);
      const image = await qrImage(deps, shortUrl, style, style.logo ? await brandOf(deps, accountId) : null);
      return { to: () => show(reply, params, { style, image }) };
    },
  });
}

/** As a data URI. @throws unscannable_qr */
export async function qrImage(
  { drawQr }: Pick<PortalDeps, "drawQr">,
  shortUrl: string,
  { logo: hasLogo, ...style }: QrStyle,
  brand: BrandDocument | null | undefined,
): Promise<string> {
  const logo = hasLogo ? (brand?.logo ?? undefined) : undefined;
  const ecc = logo === undefined ? style.ecc : "H";
  const svg = await drawQr(`${shortUrl}?qr=1`, { ...style, format: "svg", size: 256, logo, ecc });
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
}

export function qrCard(link: LinkDocument, brand: BrandDocument | null | undefined, chosen?: Chosen): Html {
  const { style, image, refused } = chosen ?? { style: brand?.qr ?? ACCOUNT_STYLE };
  const hasLogo = Boolean(brand?.logo);
  const value = (name: (typeof FIELDS)[number]) => cutText(String(style[name] ?? ACCOUNT_STYLE[name]), 100);
  const common = (name: (typeof FIELDS)[number], label: string) => ({
    ...{ id: `qr-${name}`, label, name, value: value(name), error: refused && errorOf(refused, name) },
  });
  // The QR route needs the domain's id for a link on a custom domain, as slugs are unique per host only.
  const drawn = !refused && chosen ? FIELDS.map((name) => [name, value(name)]) : [];
  const address = (format: string, size: number) =>
    `/api/qr/${encodeURIComponent(link.slug)}?${new URLSearchParams([
      ...[["look", "account"], ["format", format], ["size", String(size)]],
      ...(link.domainId ? [["domain_id", link.domainId]] : []),
      ...drawn,
    ] as [string, string][])}`; // biome-ignore format: pairs
  const downloads = DOWNLOADS.map(
    ([format, size, name]) =>
      html`<a class="button button-small" href="${address(format, size)}" download="${link.slug}.${format}">${icon("download")}${name}</a>`,
  );
  const path = linkPath(link, "/qr");
  return html`<section class="card qr-card" id="qr"><h2>QR code</h2>
<div id="qr-drawn" class="stack"><img class="qr" src="${image ?? address("svg", 256)}" width="200" alt="QR code of ${shortName(link)}">
${refused && html`<p class="error" role="alert">${icon("alert")}${refused.message}</p>`}
<p class="actions">${downloads}</p></div>
<p class="hint">Its scans count as clicks; analytics says how many they are. ${!hasLogo && html`<a href="/portal/account#logo">Put your logo in the middle</a>`}</p>
<details class="more-options" ${chosen && html`open`}><summary>Colours, shape and frame</summary>
<div><form class="stack" method="post" action="${path}" data-live="qr-drawn"><div class="grid grid-small">
${field({ ...common("dark", "Colour"), type: "color" })}${field({ ...common("light", "Background"), type: "color" })}
${choice({ ...common("shape", "Squares"), options: QR_SHAPES.map((shape) => [shape, shape === "square" ? "Square" : "Rounded"]) })}
${field({ ...common("frame", "Words on a frame"), maxlength: 24, placeholder: "Scan me", autocomplete: "off" })}
${field({ ...common("margin", "Margin"), type: "number", min: 2, max: 20, required: true })}
${
  hasLogo
    ? choice({
        ...common("logo", "Your logo in the middle"),
        options: [
          ["true", "Yes"],
          ["false", "No"],
        ],
      })
    : choice({
        ...common("ecc", "Correction"),
        options: QR_CORRECTIONS.map((level, n) => [level, CORRECTIONS[n] ?? level]),
      })
}</div>
<p class="actions"><button class="button" formaction="${path}/show" data-part="qr-drawn" data-stays>Show it</button><button class="button button-primary">Keep for all my links</button></p></form></div></details></section>`;
}
