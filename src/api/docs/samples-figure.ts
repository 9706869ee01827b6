// Code as /docs shows it: several languages beside each other, of which one is chosen for the whole page, and marks where a
// reader's own key belongs.
import { html } from "ghtml";
import { KEY_PLACES, LANGUAGES, type LanguageId } from "./code-samples.ts";

/** What chooses the language, for every block of the page: radio buttons, by which the style sheet shows one. */
export function languageChoice(): string {
  return html`<fieldset class="languages"><legend>Examples in</legend>!${LANGUAGES.map(
    ({ id, name }, n) =>
      html`<label><input type="radio" name="language" id="in-${id}" value="${id}"!${n === 0 ? " checked" : ""}> ${name}</label>`,
  )}</fieldset>`;
}

export function samples(title: string, code: Readonly<Partial<Record<LanguageId, string>>>): string {
  const blocks = LANGUAGES.flatMap(({ id, name }) => {
    const text = code[id];
    return text === undefined ? [] : [{ id, name, text }];
  });
  const [only] = blocks;
  if (blocks.length === 1 && only) return figure(title, only.text);
  return html`<div class="samples">!${blocks.map(({ id, name, text }) => figure([title, name].filter(Boolean).join(" · "), text, `in-${id}`))}</div>`;
}

export function figure(title: string, text: string, name = ""): string {
  return html`<figure!${name && html` class="${name}"`}>!${title && html`<figcaption>${title}</figcaption>`}!${codeBlock(text)}</figure>`;
}

/** Whoever has no mouse scrolls it by the keyboard. */
function codeBlock(text: string): string {
  const places = new RegExp(`(${KEY_PLACES.source})`);
  const parts = text
    .split(places)
    .map((part, n) => (n % 2 === 1 ? html`<span class="key-place">${part}</span>` : html`${part}`));
  return html`<pre tabindex="0">!${parts.join("")}</pre>`;
}
