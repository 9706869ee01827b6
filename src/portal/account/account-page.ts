// GET /portal/account: what visitors see, time zone, data export, leaving and closing the account.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { BRAND_NAME_MAX } from "../../commands/account/change-settings.ts";
import { may } from "../../commands/people/rights.ts";
import { type BrandDocument, brands } from "../../projections/definitions/brands.ts";
import { LOGO_MAX_BYTES } from "../../qr/logo.ts";
import { inkOn } from "../../redirect/http/plain-page.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import { orUndefined } from "../../stores/connections/errors.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { reauthenticated, reauthenticationOf, signInAgain } from "../auth/reauthenticate.ts";
import { LONGEST_URL } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import type { Fields } from "../shell/controls.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { confirmedPost, postButton } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { signedIn } from "../shell/sessions.ts";

const PATH = "/portal/account";
/** Of a picker while none is chosen: it has no empty value, so a box beside it says that there is none. */
const FIRST_COLOUR = "#4f46e5";
/** Its length is the command's to refuse, in its own words. */
const text = z.string().default("");

export const BRAND_FIELDS = {
  name: {
    id: "brand-name",
    label: "Your name",
    maxlength: BRAND_NAME_MAX,
    autocomplete: "organization",
    hint: "Above the page that asks for a password, or says that a link has expired or isn't there yet.",
    schema: text,
  },
  colour: {
    id: "brand-colour",
    label: "Colour",
    type: "color",
    hint: "Text on it is black or white, whichever can be read.",
  },
  no_colour: { label: "No colour of your own", isBox: true },
  url: {
    id: "brand-url",
    label: "Page for expired and unknown links",
    maxlength: LONGEST_URL,
    placeholder: "https://example.com/not-here",
    hint: "Of your own domains: visitors are led there instead of to a page of ours. A link's own expired URL comes first.",
    schema: text,
  },
} satisfies Fields;

const LOGO_FIELDS = {
  logo: {
    id: "logo",
    label: "PNG image",
    type: "file",
    accept: "image/png",
    required: true,
    hint: `At most ${LOGO_MAX_BYTES / 1024} KB. A square without small print scans best.`,
  },
} satisfies Fields;

export function accountPage(app: Api, deps: PortalDeps): void {
  app.get("/account", (_, reply) => sendAccountPage(deps, reply));
}

export async function sendAccountPage(
  deps: PortalDeps,
  reply: FastifyReply,
  refused?: RefusedForm,
): Promise<FastifyReply> {
  const session = signedIn(reply.request);
  const { accountId, email, role, timeZone } = session;
  const manages = may(role, "manage");
  const [brand, proof] = await Promise.all([
    manages ? brandOf(deps, accountId) : undefined,
    reauthenticationOf(deps, session, PATH),
  ]);
  const closing = reauthenticated(proof, {
    action: `${PATH}/close`,
    fields: {},
    isRow: true,
    buttonKind: "danger",
    button: "Close my account for good",
  });
  const zone = typedText(refused?.typed ?? {}, "timezone") || timeZone || "";
  return sendPage(reply, {
    title: "Account",
    nav: "Account",
    lead: html`${email} · <code>${accountId}</code>`,
    refused,
    cards: [
      brand !== undefined && {
        title: "What visitors see",
        form: {
          action: `${PATH}/brand`,
          id: "visitors",
          fields: BRAND_FIELDS,
          values: {
            name: brand?.name,
            colour: brand?.colour ?? FIRST_COLOUR,
            no_colour: brand?.colour ? "" : "1",
            url: brand?.fallbackUrl,
          },
          beside: sample(brand?.name ?? "", brand?.colour ?? FIRST_COLOUR),
          button: "Save",
        },
      },
      brand !== undefined && {
        title: "Logo",
        lead: "In the middle of the QR codes of your links.",
        body: brand?.logo && currentLogo(brand.logo),
        form: {
          action: `${PATH}/logo`,
          fields: LOGO_FIELDS,
          button: brand?.logo ? "Replace" : "Upload",
        },
      },
      manages && {
        title: "Time zone",
        lead: "In which days begin on the dashboard and in analytics, unless an address names another.",
        form: {
          action: `${PATH}/time-zone`,
          id: "time-zone",
          fields: {
            timezone: {
              id: "own-zone",
              label: "Time zone of your numbers",
              options: [["", "That of each browser"], ...zoneOptions(zone)],
            },
          },
          values: { timezone: zone },
          isRow: true,
          button: "Save",
        },
      },
      {
        title: "Your data",
        lead: "Everything the log holds of you, event by event: the account, its keys and domains, every link and every click, as lines of JSON.",
        body: html`<div><a class="button" href="${PATH}/export" download>${icon("download")}Export my data</a></div>`,
      },
      {
        title: "Leave this account",
        lead: "You see nothing of it any more, and your own API keys end; the links that you made stay. The last owner can't leave.",
        actions: confirmedPost(
          "Leave",
          "Only an invitation can take this back.",
          `${PATH}/leave`,
          "Leave the account",
        ),
      },
      may(role, "own") && {
        title: "Close account",
        kind: "danger",
        lead: "Your keys stop at once, your links no longer redirect, your domains and webhooks are removed, and who is a member of no other account is erased, you too. This can't be undone: export your data first.",
        ...(proof.asks === "sign-in" ? { body: signInAgain(proof) } : { form: closing }),
      },
    ],
  });
}

/** Null where nothing is chosen; undefined while nobody knows, as an empty form that is saved would clear what is chosen. */
export async function brandOf(
  { readStore }: { readStore: Pick<ReadStore, "get"> },
  accountId: string,
): Promise<BrandDocument | null | undefined> {
  const reading = readStore.get<BrandDocument>(brands.collection.name, accountId);
  return await orUndefined(reading.then((brand) => brand ?? null));
}

/** Values and names; `current` too, where it is none of them, such as an alias. */
export function zoneOptions(current: string): (readonly [string, string])[] {
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  if (current !== "" && !zones.includes(current)) zones.unshift(current);
  return zones.map((name) => [name, name.replaceAll("_", " ")] as const);
}

/** As the page is drawn; SVG's attributes need no inline style. */
function sample(name: string, colour: string): Html {
  const shown = name || "Your name";
  return html`<figure class="stack"><svg viewBox="0 0 320 200" fill="currentColor" role="img" aria-label="Sample of a page for visitors"><rect width="320" height="200" rx="8" fill="none" stroke="currentColor"/>
<rect x="1" y="1" width="318" height="40" rx="8" fill="${colour}"/><text x="160" y="26" text-anchor="middle" font-size="14" font-weight="600" fill="${inkOn(colour)}">${shown.length > 22 ? `${cutText(shown, 21)}…` : shown}</text>
<text x="160" y="115" text-anchor="middle" font-size="16" font-weight="600">This short link has expired</text>
<text x="160" y="142" text-anchor="middle" font-size="11">Whoever gave it to you may have a new one.</text></svg>
<figcaption class="hint">As it was saved last.</figcaption></figure>`;
}

/** `image`: PNG in base64. */
function currentLogo(image: string): Html {
  return html`<p class="actions"><img class="logo" src="data:image/png;base64,${image}" alt="Your logo" width="64" height="64">${postButton(`${PATH}/logo/remove`, html`${icon("trash")}Remove`, { label: "Remove the logo" })}</p>`;
}
