// The minimal HTML page behind a custom domain's home, a link's password, and a 404, 451 or 503 of the redirect.
/** `title` and `text` are inserted without HTML escaping: never pass user input. */
export function plainPage(title: string, text: string): string {
  return plainFrame(title, `<p>${text}</p>`);
}

export const PLAIN_STYLE = `
  :root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
  body { display: grid; min-height: 90vh; margin: 1rem; place-content: center; text-align: center }
`;

/** `body`: HTML below the title. `style`: rules besides those of every page. */
export function plainFrame(title: string, body: string, style = ""): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${PLAIN_STYLE}${style}</style>
<h1>${title}</h1>
${body}
</html>
`;
}
