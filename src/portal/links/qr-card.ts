// The QR code of a link on its page: drawn as it is chosen, to download, and kept as how all of the account's codes look.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { acceptQrStyle, keepQrLook } from "../../commands/account/change-settings.ts";
import {
  ACCOUNT_STYLE,
  lookOf,
  QR_CORRECTIONS,
  QR_SHAPES,
  type QrStyle,
  scannedUrl,
} from "../../events/links/qr-look.ts";
import type { BrandDocument } from "../../projections/definitions/brands.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { ownLinkAt } from "../../queries/links/find-link.ts";
import { brandOf } from "../account/account-page.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countDraft } from "../shell/change-limit.ts";
import { type Fields, inputs } from "../shell/controls.ts";
import { formRoute, type ShowAgain } from "../shell/form-route.ts";
import { type Html, html, offered } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import type { RefusedForm } from "../shell/refused-form.ts";
import { LinkParams, linkPath, shortName } from "./link-view.ts";

const CORRECTIONS = ["Low: the largest squares", "Medium", "High", "Highest: a third may be covered"];
const DOWNLOADS = [
  ["svg", 512, "SVG"],
  ["pdf", 512, "PDF"],
  ["png", 1024, "PNG 1,024"],
  ["png", 2048, "PNG 2,048"],
] as const;
const FIELDS = {
  dark: { label: "Colour", type: "color" },
  light: { label: "Background", type: "color" },
  shape: { label: "Squares", options: QR_SHAPES.map((shape) => [shape, shape === "square" ? "Square" : "Rounded"]) },
  frame: { label: "Words on a frame", maxlength: 24, placeholder: "Scan me" },
  margin: { label: "Margin", type: "number", min: 2, max: 20, required: true },
  ecc: { label: "Correction", options: QR_CORRECTIONS.map((level, n) => [level, CORRECTIONS[n]]) },
  logo: { label: "Your logo in the middle", options: [["true", "Yes"], ["false", "No"]] },
} satisfies Fields; // biome-ignore format: a row a field

/** What the card shows instead of what is kept. `image`: as a data URI. */
type QrDraft = { style: Readonly<Record<string, unknown>>; image?: string; refused?: RefusedForm };

/** `show`: the page with this draft. */
export function qrForms(
  app: Api,
  deps: PortalDeps,
  show: (
    reply: Parameters<ShowAgain>[0],
    params: z.infer<typeof LinkParams>,
    draft: QrDraft,
  ) => ReturnType<ShowAgain>,
): void {
  const form = {
    schema: { params: LinkParams, body: z.record(z.string(), z.unknown()) },
    again: (async (reply, refused) =>
      show(reply, LinkParams.parse(reply.request.params), {
        style: refused.typed,
        refused,
      })) satisfies ShowAgain,
    path: ({ params }: { params: unknown }) => linkPath(LinkParams.parse(params)),
  };
  formRoute(app, deps, "/links/:host/:slug/qr", {
    ...form,
    async run({ params, body, session: { accountId }, context }) {
      await ownLinkAt(deps, accountId, params);
      const { position } = await keepQrLook(deps, context, accountId, acceptQrStyle(body));
      return { position, notice: "All your QR codes look so from now on." };
    },
  });
  formRoute(app, deps, "/links/:host/:slug/qr/show", {
    ...form,
    count: (session) => countDraft(deps, session),
    async run({ params, body, session: { accountId }, reply }) {
      const { shortUrl } = await ownLinkAt(deps, accountId, params);
      const style = acceptQrStyle(body);
      const image = await qrImage(deps, shortUrl, style, style.logo ? await brandOf(deps, accountId) : null);
      return { to: () => show(reply, params, { style, image }) };
    },
  });
}

/** As a data URI. @throws unscannable_qr */
export async function qrImage(
  { drawQr }: Pick<PortalDeps, "drawQr">,
  shortUrl: string,
  style: QrStyle,
  brand: BrandDocument | null | undefined,
): Promise<string> {
  const look = lookOf(style, brand?.logo, { format: "svg", size: 256 });
  const svg = await drawQr(scannedUrl(shortUrl), look);
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
}

export function qrCard(link: LinkDocument, brand: BrandDocument | null | undefined, draft?: QrDraft): Html {
  const { style, image, refused }: QrDraft = draft ?? { style: brand?.qr ?? {} };
  const set = Object.entries({ ...ACCOUNT_STYLE, ...style }).filter(([name]) => name in FIELDS);
  const values = Object.fromEntries(set.map(([name, value]) => [name, String(value)]));
  // The QR route needs the domain's id for a link on a custom domain, as slugs are unique per host only.
  const domain = link.domainId && { domain_id: link.domainId };
  const asShown = { look: "account", ...domain, ...(draft && !refused && values) };
  const address = (format: string, size: number) =>
    `/api/qr/${encodeURIComponent(link.slug)}?${new URLSearchParams({ ...asShown, format, size: String(size) })}`;
  const downloads = DOWNLOADS.map(
    ([format, size, name]) =>
      html`<a class="button button-small" href="${address(format, size)}" download="${link.slug}.${format}">${icon("download")}${name}</a>`,
  );
  const path = linkPath(link, "/qr");
  // A logo needs the highest correction.
  const { logo, ecc, ...plain } = FIELDS;
  const fields = { ...plain, ...(brand?.logo ? { logo } : { ecc }) };
  return html`<section class="card qr-card" id="qr"><h2>QR code</h2>
<div id="qr-drawn" class="stack"><img class="qr" src="${image ?? address("svg", 256)}" width="200" alt="QR code of ${shortName(link)}">
${refused && html`<p class="error" role="alert">${icon("alert")}${refused.message}</p>`}
<p class="actions">${downloads}</p></div>
<p class="hint">Its scans count as clicks; analytics says how many they are. ${!brand?.logo && offered("/portal/account/logo", html`<a href="/portal/account#logo">Put your logo in the middle</a>`)}</p>
<details class="more-options" ${draft && html`open`}><summary>Colours, shape and frame</summary>
<div><form class="stack" method="post" action="${path}" data-live="qr-drawn"><div class="grid grid-small">${inputs(fields, values, refused)}</div>
<p class="actions"><button class="button" name="act" value="show" formaction="${path}/show" data-part="qr-drawn" data-stays>Show it</button><button class="button button-primary">Keep for all my links</button></p></form></div></details></section>`;
}
