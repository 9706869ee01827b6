// GET /status: in words for people what /health/ready says to machines, without the reasons, which are the operator's.
import type { Api } from "../../api/fastify.ts";
import type { Area } from "../../api/operations/problems.ts";
import { VERSION } from "../../config/version.ts";
import { atMostEvery } from "../../runtime/at-most-every.ts";
import type { Watched } from "../portal-deps.ts";
import { type Html, html } from "./html.ts";
import { icon } from "./icons.ts";
import { badge } from "./layout.ts";
import { sendPage } from "./page.ts";

type AreaWords = { area: Area; name: string; works: string; fails: string };

const AREAS: readonly AreaWords[] = [
  {
    area: "links",
    name: "Short links",
    works: "They answer.",
    fails: "Some may not answer just now.",
  },
  {
    area: "changes",
    name: "New links and changes",
    works: "They are saved.",
    fails: "They may be refused just now: please try again in a while.",
  },
  {
    area: "numbers",
    name: "Numbers",
    works: "They are up to date: a click shows within a second or two.",
    fails: "They may be late or incomplete just now. What is recorded is counted later.",
  },
  {
    area: "webhooks",
    name: "Webhooks",
    works: "They are sent as clicks come in.",
    fails: "They may be late: what is not sent now is sent later.",
  },
];

/** Stores are asked at most this often, however many people look. */
const LOOK_EVERY_MS = 1_000;

export function statusPage(site: Api, deps: Watched): void {
  const problems = atMostEvery(LOOK_EVERY_MS, () => deps.problems("public"));
  site.get("/status", async (_request, reply) => {
    const affected = new Set((await problems()).flatMap(({ affects }) => affects));
    const isWorking = ({ area }: AreaWords) => !affected.has(area);
    const title = AREAS.every(isWorking) ? "Everything works" : "Not everything works just now";
    const body = html`<ul class="next-steps">${AREAS.map((area) => row(area, isWorking(area)))}</ul>
<p class="muted small">Programs ask <a href="/health/ready">/health/ready</a>. This is Linkledger ${VERSION}.</p>`;
    return sendPage(reply, { title: "Status", shape: "narrow", cards: [{ title, body }] });
  });
}

function row({ name, works, fails }: AreaWords, isWorking: boolean): Html {
  const sign = isWorking
    ? badge("good", html`${icon("check")}Works`)
    : badge("warn", html`${icon("alert")}Disturbed`);
  return html`<li><p><strong>${name}</strong> ${sign}</p><p>${isWorking ? works : fails}</p></li>`;
}
