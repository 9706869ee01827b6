// What an account without links sees first: the form for a link, and what to do after it.
import type { Tier } from "../../events/vocabulary.ts";
import { createLinkForm } from "../links/new-link-page.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";

export function firstSteps(once: string, tier: Tier): Html {
  return html`<section class="card empty">${icon("link")}<h2>Make your first short link</h2>
<p>Paste a long address. You get a short one and a QR code at once, and every click shows up here.</p>
${createLinkForm(once)}</section>
<section class="card"><h2>What comes next</h2><ul class="next-steps">
<li><form method="post" action="/portal/keys"><input type="hidden" name="label" value="First key">
<p><strong>Make links from a program.</strong> You get an API key, and a command to copy that makes a link with it.</p>
<button class="button">${icon("key")}Make an API key</button></form></li>
${
  tier === "developer" &&
  html`<li><p><strong>Use a domain of your own</strong>, and choose what stands after the slash.</p>
<a class="button" href="/portal/domains">${icon("globe")}Add a domain</a></li>
<li><p><strong>Be told of each click</strong> by a webhook, a moment after it happened.</p>
<a class="button" href="/portal/webhooks">${icon("send")}Add a webhook</a></li>`
}</ul></section>`;
}
