// Swagger UI's look: our colours, light and dark as the system says, and our mark.
import { readFileSync } from "node:fs";
import { SITE_ICON } from "./site-routes.ts";

const COLOURS = `const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
new MutationObserver(() => document.querySelector(".topbar a.link")?.setAttribute("href", "/"))
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
      js: [{ filename: "linkledger.js", content: COLOURS }],
      favicon: [icon],
    },
  };
}
