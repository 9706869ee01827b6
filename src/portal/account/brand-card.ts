// What visitors see of the account, on /portal/account: the name and colour of its links' pages, with a sample, and where they are
// led instead.

import { BRAND_NAME_MAX } from "../../commands/account/brands.ts";
import { type BrandDocument, brands } from "../../projections/definitions/brands.ts";
import { inkOn } from "../../redirect/http/plain-page.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import { orUndefined } from "../../stores/connections/errors.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { LONGEST_URL } from "../links/link-view.ts";
import { field } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { formCard } from "../shell/parts.ts";
import { errorOf, type RefusedForm, typedText } from "../shell/refused-form.ts";

/** Of a picker while none is chosen: it has no empty value, so a box beside it says that there is none. */
const FIRST_COLOUR = "#4f46e5";

/** Null where nothing is chosen; undefined while nobody knows, as an empty form that is saved would clear what is chosen. */
export async function brandOf(
  { readStore }: { readStore: Pick<ReadStore, "get"> },
  accountId: string,
): Promise<BrandDocument | null | undefined> {
  const reading = readStore.get<BrandDocument>(brands.collection.name, accountId);
  return await orUndefined(reading.then((brand) => brand ?? null));
}

/** `refused`: as typed, and why it was refused. */
export function brandCard(brand: BrandDocument | null, refused: RefusedForm | undefined): Html {
  const textOf = (name: string, saved: string | null | undefined) =>
    refused ? typedText(refused.typed, name) : (saved ?? "");
  const colour = /^#[0-9a-f]{6}$/i.exec(textOf("colour", brand?.colour))?.[0] ?? FIRST_COLOUR;
  const hasNone = textOf("no_colour", brand?.colour ? "" : "1") !== "";
  const name = field({
    id: "brand-name",
    label: "Your name",
    name: "name",
    value: textOf("name", brand?.name),
    maxlength: BRAND_NAME_MAX,
    autocomplete: "organization",
    error: errorOf(refused, "name"),
    hint: "Above the page that asks for a password, or says that a link has expired or isn't there yet.",
  });
  const fill = field({
    id: "brand-colour",
    label: "Colour",
    name: "colour",
    type: "color",
    value: colour,
    error: errorOf(refused, "colour"),
    hint: "Text on it is black or white, whichever can be read.",
  });
  const none = html`<label class="check"><input type="checkbox" name="no_colour" value="1" ${hasNone && html`checked`}>No colour of your own</label>`;
  const url = field({
    id: "brand-url",
    label: "Page for expired and unknown links",
    name: "url",
    value: textOf("url", brand?.fallbackUrl),
    maxlength: LONGEST_URL,
    autocomplete: "off",
    placeholder: "https://example.com/not-here",
    error: errorOf(refused, "url"),
    hint: "Of your own domains: visitors are led there instead of to a page of ours. A link's own expired URL comes first.",
  });
  return formCard("What visitors see", {
    id: "visitors",
    action: "/portal/account/brand",
    button: "Save",
    fields: html`<div class="grid"><div class="stack">${name}${fill}${none}${url}</div>${sample(brand?.name ?? "", colour)}</div>`,
  });
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
