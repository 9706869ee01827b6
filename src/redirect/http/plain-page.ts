// The small page of what has no other: a domain's own, a link that isn't there.

/** `title` and `text` stand in the page as they are: nothing that a stranger gave. */
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
