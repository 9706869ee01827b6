// Swagger UI's look: our colours in its light and its dark mode, and our mark.
import { readFileSync } from "node:fs";
import { SITE_ICON } from "./site-routes.ts";

/** Leads from the mark to the first page; Swagger UI draws it late, and without an address. */
const HOME = `new MutationObserver(() => document.querySelector(".topbar a.link")?.setAttribute("href", "/"))
  .observe(document.body, { childList: true, subtree: true });
`;

/** Options of @fastify/swagger-ui. */
export function docsTheme() {
  const css = readFileSync(new URL("./docs.css", import.meta.url), "utf8");
  const icon = { filename: "icon.svg", rel: "icon", type: "image/svg+xml", sizes: "any", content: SITE_ICON };
  return {
    logo: { type: "image/svg+xml", content: SITE_ICON },
    theme: {
      title: "API documentation · Linkledger",
      css: [{ filename: "linkledger.css", content: css }],
      js: [{ filename: "linkledger.js", content: HOME }],
      favicon: [icon],
    },
  };
}
