// The guides of /docs: Markdown in guides/, of which headings, paragraphs, lists and blocks of code are read. Blocks that
// follow each other are one step in several languages; a test runs each language of a guide from its first block to its last.
import { readFileSync } from "node:fs";
import { html } from "ghtml";
import { LANGUAGES } from "./code-samples.ts";
import { figure, samples } from "./samples-figure.ts";
import { inline, prose } from "./schema-members.ts";

/** In the order of a reader's first day. */
const NAMES = ["first-link", "many-links", "numbers", "webhooks", "errors", "idempotency"] as const;

/** What their addresses begin with: tags have pages, too. */
export const GUIDE = "guide-";
/** The address in their examples. */
const DOCUMENTED = "http://localhost:3000";

/** `text`: without markup, for searches. */
export type Guide = { name: string; title: string; lead: string; body: string; text: string };

export function guides(baseUrl: string): Guide[] {
  return NAMES.map((name) => {
    const file = readFileSync(new URL(`guides/${name}.md`, import.meta.url), "utf8");
    const text = file.replaceAll(DOCUMENTED, baseUrl);
    const [heading = "", lead = ""] = text.split(/\n\n/);
    const title = heading.replace(/^# /, "");
    return {
      name: GUIDE + name,
      title,
      lead,
      body: bodyOf(text.slice(heading.length + lead.length + 2)),
      text,
    };
  });
}

function bodyOf(text: string): string {
  const steps = text.split(/((?:^```\w+\n.*?^```\n\s*)+)/ms);
  return steps.map((step, n) => (n % 2 === 1 ? codeStep(step) : textStep(step))).join("");
}

function codeStep(step: string): string {
  const blocks = [...step.matchAll(/^```(\w+)\n(.*?)\n```$/gms)].map(([, fence = "", code = ""]) => ({
    language: LANGUAGES.find((language) => language.fence === fence)?.id,
    code,
  }));
  const others = blocks.filter(({ language }) => language === undefined);
  const spoken = blocks.flatMap(({ language, code }) => (language ? [[language, code] as const] : []));
  return html`!${spoken.length > 0 ? samples("", Object.fromEntries(spoken)) : ""}!${others.map(({ code }) => figure("Answer", code))}`;
}

function textStep(step: string): string {
  const parts = step.split(/\n\n+/).map((part) => part.trim());
  return parts
    .map((part) => {
      if (part.startsWith("## ")) return html`<h2>${part.slice(3)}</h2>`;
      if (!part.startsWith("- ")) return prose(part);
      const items = part.split(/^- /m).slice(1);
      return html`<ul>!${items.map((item) => html`<li>!${inline(item.trim())}</li>`)}</ul>`;
    })
    .join("");
}
