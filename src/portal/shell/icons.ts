// The portal's icons as inline SVG; purely decorative.
import { type Html, html } from "./html.ts";

const SHAPES = {
  mark: html`<rect x="1.5" y="8" width="12" height="8" rx="4"/><rect x="10.5" y="8" width="12" height="8" rx="4"/>`,
  home: html`<path d="M4 11 12 4l8 7v9h-5v-6H9v6H4v-9Z"/>`,
  chart: html`<path d="M4 20V10M12 20V4M20 20v-7"/>`,
  link: html`<path d="M10 14a4 4 0 0 0 6 .4l3-3a4.2 4.2 0 0 0-6-6l-1.5 1.5M14 10a4 4 0 0 0-6-.4l-3 3a4.2 4.2 0 0 0 6 6l1.5-1.5"/>`,
  key: html`<circle cx="8" cy="15" r="4"/><path d="m11 12 8.5-8.5M16 7l3 3M14 9l1.5 1.5"/>`,
  globe: html`<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c5 5.5 5 12.5 0 18-5-5.5-5-12.5 0-18"/>`,
  send: html`<path d="m21 3-7 18-4-8-7-3 18-7ZM10 13 21 3"/>`,
  star: html`<path d="m12 3 2.7 5.7 6.3.8-4.6 4.3 1.2 6.2-5.6-3-5.6 3 1.2-6.2L3 9.5l6.3-.8L12 3Z"/>`,
  person: html`<circle cx="12" cy="8" r="4"/><path d="M4 21c.5-4.5 4-7 8-7s7.5 2.5 8 7"/>`,
  people: html`<circle cx="9" cy="8" r="3.5"/><path d="M2.5 20c.4-4 3-6 6.5-6s6.1 2 6.5 6M16 5a3.5 3.5 0 0 1 0 6.5M18 14.5c2 .8 3.2 2.6 3.5 5.5"/>`,
  check: html`<circle cx="12" cy="12" r="9"/><path d="m8 12 3 3 5-6"/>`,
  alert: html`<circle cx="12" cy="12" r="9"/><path d="M12 7v6M12 16.5v.1"/>`,
  info: html`<circle cx="12" cy="12" r="9"/><path d="M12 11v6M12 7.5v.1"/>`,
  contrast: html`<circle cx="12" cy="12" r="9"/><path d="M12 3v18a9 9 0 0 0 0-18Z" fill="currentColor"/>`,
  moon: html`<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z"/>`,
  sun: html`<circle cx="12" cy="12" r="4"/><path d="M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4"/>`,
  copy: html`<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15H4V5a1 1 0 0 1 1-1h10v1"/>`,
  close: html`<path d="m6 6 12 12M18 6 6 18"/>`,
  plus: html`<path d="M12 5v14M5 12h14"/>`,
  search: html`<circle cx="11" cy="11" r="7"/><path d="m20 20-4-4"/>`,
  download: html`<path d="M12 4v11M7 11l5 5 5-5M4 20h16"/>`,
  qr: html`<rect x="4" y="4" width="6" height="6"/><rect x="14" y="4" width="6" height="6"/><rect x="4" y="14" width="6" height="6"/><path d="M14 14h2v2M20 14v6h-4M14 20v-1"/>`,
  trash: html`<path d="M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5"/>`,
  pause: html`<path d="M8 5v14M16 5v14"/>`,
  clock: html`<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3.5 2"/>`,
} as const satisfies Record<string, Html>;

export type IconName = keyof typeof SHAPES;

/** Hidden from screen readers: a button with only an icon needs an aria-label. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${SHAPES[name]}</svg>`;
}
