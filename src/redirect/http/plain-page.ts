// The minimal HTML page behind a custom domain's home, a link's password, and a 404, 451 or 503 of the redirect: the home, the
// password and a 404 on an account's links and domains in the name and colour that it has chosen.
import { html as escaped } from "ghtml";

/** `colour`: `#` and six hex digits. */
export type PageLook = { name?: string | undefined; colour?: string | undefined };

/** `title` and `text` are inserted without HTML escaping: never pass user input. */
export function plainPage(title: string, text: string, look: PageLook = {}): string {
  return plainFrame(title, `<p>${text}</p>`, look);
}

const STYLE = `
  :root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
  body { display: grid; min-height: 90vh; margin: 1rem; place-content: center; justify-items: center; text-align: center; overflow-wrap: anywhere }
  main { display: grid; gap: .75rem; justify-items: center; max-width: 30rem }
  header { position: fixed; inset: 0 0 auto; padding: 1rem; font-weight: 600; background: var(--colour); color: var(--ink) }
  h1 { margin: 0; font-size: 1.625rem; line-height: 1.25 }
  p { margin: 0 }
  form { display: grid; gap: .75rem; width: min(22rem, 85vw); text-align: start }
  input, button { font: inherit; min-height: 3rem; box-sizing: border-box; width: 100%; padding: .5rem .75rem; border-radius: .5rem }
  input { border: 1px solid GrayText; background: Field; color: FieldText }
  button { border: 1px solid ButtonText; background: var(--colour); color: var(--ink); cursor: pointer }
  :focus-visible { outline: 3px solid; outline-offset: 2px }
  [role=alert] { font-weight: 600 }
`;

/** Of every page in this look: its policy has the hash of it. */
export function pageStyle({ colour }: PageLook): string {
  const [fill, ink] = colour === undefined ? ["CanvasText", "Canvas"] : [colour, inkOn(colour)];
  return `${STYLE}  :root { --colour: ${fill}; --ink: ${ink} }\n`;
}

/** `body`: HTML below the title. */
export function plainFrame(title: string, body: string, look: PageLook): string {
  const header = look.name === undefined ? "" : escaped`<header>${look.name}</header>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${pageStyle(look)}</style>
${header}
<main>
<h1>${title}</h1>
${body}
</main>
</html>
`;
}

/** Luminance (WCAG 2.2) at which black and white contrast alike with a colour, by 4.58 : 1. */
const EVEN_LUMINANCE = 0.1791;

/** Black or white, whichever can be read better on the colour: by 4.5 : 1 at least. */
export function inkOn(colour: string): "#000000" | "#ffffff" {
  return luminance(colour) > EVEN_LUMINANCE ? "#000000" : "#ffffff";
}

/** Relative, of 0 to 1 (WCAG 2.2). */
export function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
