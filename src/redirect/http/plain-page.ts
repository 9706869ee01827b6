// The minimal HTML page behind a custom domain's home and a 404, 451 or 503 of the redirect.
/** `title` and `text` are inserted without HTML escaping: never pass user input. */
export function plainPage(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>
  :root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
  body { display: grid; min-height: 90vh; margin: 1rem; place-content: center; text-align: center }
</style>
<h1>${title}</h1>
<p>${text}</p>
</html>
`;
}
