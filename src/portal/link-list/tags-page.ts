// GET /portal/tags: the account's tags with their links and clicks; forms that rename, merge and colour one.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { coloursOf, colourTag, passTagColour } from "../../commands/account/tag-colours.ts";
import { acceptTag, RETAGGED_AT_A_TIME } from "../../commands/links/tags.ts";
import { isRefused } from "../../commands/refusals.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { TAG_COLOURS } from "../../events/vocabulary.ts";
import { accountLinkKeys } from "../../queries/links/list-links.ts";
import { listTags, refuseTag, type TagRow, tagNames } from "../../queries/links/tags.ts";
import { changeSeveral } from "../links/change-links.ts";
import { count, counted, tagLink } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { address } from "../shell/address.ts";
import { countRead } from "../shell/change-limit.ts";
import { type Fields, form, hiddenFields } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import type { IconName } from "../shell/icons.ts";
import { type Columns, tableCard } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { signedIn } from "../shell/sessions.ts";

const PATH = "/portal/tags";
const SHOWN = 200;
/** Names that inputs suggest. */
const SUGGESTED = 500;

const Query = z.object({ q: z.string().trim().max(200).default("").catch("") });

/** `merge`: present where a person was asked. `after`: cursor of the links that have the new name already. */
const TagForm = z.object({
  tag: z.string().max(4 * OPTION_LIMITS.tag),
  name: z
    .string()
    .trim()
    .max(4 * OPTION_LIMITS.tag),
  colour: z.union([z.enum(TAG_COLOURS), z.literal("").transform(() => null)]).default(null),
  merge: z.literal("1").optional(),
  after: z.string().max(400).optional(),
});
type TagForm = z.infer<typeof TagForm>;

/** What the last form comes to: a question, or a part that is done. */
type Next = { message?: string; status: number; card?: Html; refused?: RefusedForm };

export function tagsPage(app: Api, deps: PortalDeps): void {
  app.get("/tags", { schema: { querystring: Query } }, async (request, reply) => {
    if (request.query.q !== "") await countRead(deps, signedIn(request));
    return await sendTags(deps, reply, request.query.q);
  });

  app.get("/tags/names", async (request, reply) => {
    reply.header("cache-control", "no-store");
    return await tagNames(deps, signedIn(request).accountId, SUGGESTED);
  });

  formRoute(app, deps, "/tags", {
    schema: { body: TagForm },
    async run({ reply, body, ...by }) {
      const { accountId } = by.session;
      const { tag, colour, merge, after } = body;
      const name = acceptTag(body.name, "name");
      if (after === undefined) await refuseTag(deps, accountId, tag, { name, merge: merge !== undefined });
      if (name === tag) {
        await colourTag(deps, by.context, accountId, tag, colour);
        return { notice: `The colour of ${tag} is saved.` };
      }
      const part = { tag, after, limit: RETAGGED_AT_A_TIME };
      const { keys, next } = await accountLinkKeys(deps, accountId, part);
      const renaming = { type: "retag", from: tag, to: name } as const;
      const { text, changed, position } = await changeSeveral(deps, by, renaming, keys);
      if (next === null) {
        if (changed === 0) return { position, notice: { kind: "failed", text } };
        await passTagColour(deps, by.context, accountId, { from: tag, to: name });
        // Of two that become one the name's own colour is kept.
        if (!merge) await colourTag(deps, by.context, accountId, name, colour);
        return { position, notice: text };
      }
      const rest = { message: text, status: 200, card: goOn({ ...body, name, after: next }) };
      return { position, to: () => sendTags(deps, reply, "", rest) };
    },
    again: (reply, refused) => sendTags(deps, reply, "", refusal(refused)),
  });
}

async function sendTags(
  deps: PortalDeps,
  reply: FastifyReply,
  q: string,
  next?: Next,
): Promise<FastifyReply> {
  const { accountId } = signedIn(reply.request);
  const colours = await coloursOf(deps.links, accountId);
  const { tags, total } = await listTags(deps, accountId, colours, { q, limit: SHOWN });
  const refused = next?.refused;
  const isBeside = tags.some((row) => isOf(row, refused));
  const text = isBeside ? undefined : next?.message;
  const search = { q: { label: "Search", type: "search" } } satisfies Fields;
  const more =
    total > tags.length &&
    html`<p class="hint">The ${count(tags.length)} of the most links are shown: search for the others.</p>`;
  return sendPage(reply, {
    title: "Tags",
    nav: "Links",
    above: html`<a href="/portal/links">Links</a>`,
    lead: `${counted(total, "tag")}.`,
    status: next?.status,
    notice: text === undefined ? undefined : { kind: next?.status === 200 ? "info" : "failed", text },
    cards: [
      next?.card,
      (total > 20 || q !== "") &&
        form({ action: PATH, method: "get", fields: search, values: { q }, isRow: true, button: "Search" }),
      tableCard("Your tags", columns(refused), tags, { none: nothing(q), below: more }),
    ],
  });
}

function nothing(q: string): readonly [string, HtmlValue, IconName] {
  return q === ""
    ? [
        "No tags yet",
        html`Give <a href="/portal/links">links</a> tags to find them again, and to add up their clicks.`,
        "link",
      ]
    : ["Nothing found", html`No tag matches. <a href="${PATH}">Show all tags</a>`, "search"];
}

const columns = (refused: RefusedForm | undefined): Columns<TagRow> => ({
  Tag: ({ tag, colour }) => tagLink(tag, colour),
  Links: "links",
  Clicks: {
    cell: ({ tag, clicks }) =>
      html`<a href="${address("/portal/analytics", { tag })}">${clicks === undefined ? "Analytics" : count(clicks)}</a>`,
    end: true,
  },
  Edit: {
    cell: (row) => editForm(row, isOf(row, refused) ? refused : undefined),
    isHidden: true,
    end: true,
  },
});

/** Whether it was its form that was refused, for its name. */
function isOf({ tag }: TagRow, refused: RefusedForm | undefined): refused is RefusedForm {
  return refused?.field === "name" && typedText(refused.typed, "tag") === tag;
}

function editForm({ tag, colour }: TagRow, refused: RefusedForm | undefined): Html {
  const of = encodeURIComponent(tag);
  const fields = {
    name: { id: `name-${of}`, label: "Name", maxlength: OPTION_LIMITS.tag, required: true },
    colour: {
      id: `colour-${of}`,
      label: "Colour",
      options: [["", "None"], ...TAG_COLOURS.map((name) => [name, name] as const)],
    },
  } satisfies Fields;
  return html`<details class="menu" ${refused && html`open`}><summary class="button button-small" aria-label="Edit the tag ${tag}">Edit</summary><div class="menu-box">${form({ action: PATH, hidden: { tag }, fields, values: { name: tag, colour }, button: "Save", buttonKind: "primary" }, refused)}</div></details>`;
}

/** A tag of many links is renamed a part at a time. */
function goOn({ colour, ...form }: TagForm): Html {
  return html`<form class="card" method="post" action="${PATH}">${hiddenFields({ ...form, colour: colour ?? "" })}
<p>${count(RETAGGED_AT_A_TIME)} links are changed at a time, and more are left.</p><div><button class="button button-primary">Go on</button></div></form>`;
}

/** Two tags become one only where somebody was asked. */
function refusal(refused: RefusedForm): Next {
  const { error, status, message, typed } = refused;
  if (!isRefused(error, "tag_taken")) return { message, status, refused };
  const [tag, name] = [typedText(typed, "tag"), typedText(typed, "name")];
  const fields = { tag, name, colour: typedText(typed, "colour"), merge: "1" };
  return {
    status,
    card: html`<form class="card" method="post" action="${PATH}" role="alert">${hiddenFields(fields)}<h2>Merge ${tag} into ${name}?</h2>
<p>${message}. It can’t be undone: only the history of each link will say that it had ${tag}.</p><div class="actions"><button class="button button-primary">Merge</button><a class="button" href="${PATH}">Cancel</a></div></form>`,
  };
}
