// /portal/shared: makes pages and weekly mails of the view of analytics in the address, lists and ends them.
import { parse } from "node:querystring";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { opened, type SharedPage, type WeeklyMail } from "../../commands/account/account.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import {
  endSharedPage,
  isOver,
  makeSharedPage,
  SHARED_NAME_MAX,
} from "../../commands/sharing/shared-pages.ts";
import { beginWeeklyMail, stopWeeklyMail } from "../../commands/sharing/weekly-mails.ts";
import { SHARED_CARDS } from "../../events/accounts/sharing-events.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { DAY_MS, instantOf, type TimeZone } from "../../queries/analytics/time-zone.ts";
import { parseDate } from "../../runtime/moment.ts";
import { acceptedFilters } from "../analytics/ask-view.ts";
import { CARDS } from "../analytics/breakdowns.ts";
import { AnalyticsQuery, requestedView, viewAddress } from "../analytics/view-address.ts";
import { capital } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Fields, schemaOf } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import {
  type Card,
  type Columns,
  confirmedPost,
  copyable,
  postButton,
  tableCard,
  time,
} from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { signedIn } from "../shell/sessions.ts";
import { filtersInWords, rangeInWords, viewInWords } from "./view-in-words.ts";

const PATH = "/portal/shared";
const MAILS = `${PATH}/mails`;

const NAME = { label: "Name", required: true, maxlength: SHARED_NAME_MAX } as const;
const PAGE = {
  name: { ...NAME, placeholder: "What it shows, such as “Spring sale”" },
  cards: {
    label: "Beside the chart",
    boxes: true,
    options: CARDS.map(({ key, name }) => [key, name] as const),
  },
  password: {
    label: "Password",
    type: "password",
    autocomplete: "new-password",
    maxlength: OPTION_LIMITS.password,
    hint: "None when empty",
  },
  ends: {
    label: "Last day",
    type: "date",
    maxlength: 30,
    hint: "Until you end it when empty",
    refusedAs: "ends_at",
  },
} as const satisfies Fields;
const MAIL = { name: { ...NAME, id: "mail-name" } } as const satisfies Fields;
/** The query of the view's address. */
const view = z.string().max(8_000).default("");

export function sharingPages(app: Api, deps: PortalDeps): void {
  const writing = { ...deps, ...deps.links };
  const viewIn = (text: string, request: FastifyRequest) =>
    requestedView(request, AnalyticsQuery.parse(parse(text)), deps.clock());

  async function show(reply: FastifyReply, text: string, refused?: RefusedForm) {
    const { request } = reply;
    const session = signedIn(request);
    requireDeveloper(session.tier, "Shared pages");
    const { sharedPages, weeklyMails } = opened(await deps.links.currentAccount(session.accountId));
    const shown = viewIn(text, request);
    return sendPage(reply, {
      title: "Share numbers",
      nav: "Analytics",
      refused,
      above: html`<a href="${viewAddress(shown)}">Analytics</a>`,
      lead: html`${viewInWords(shown.range, shown.filters)}. <a href="${viewAddress(shown)}">Choose something else</a>`,
      cards: [
        [pageCard(text), mailCard(text, deps.mailer !== undefined)],
        tableCard("Your shared pages", pageColumns(deps.clock()), [...sharedPages.values()].reverse()),
        tableCard("Your weekly mails", MAIL_COLUMNS, [...weeklyMails.values()].reverse()),
      ],
    });
  }
  const again = (reply: FastifyReply, refused: RefusedForm) =>
    show(reply, typedText(refused.typed, "view"), refused);
  app.get("/shared", (request, reply) =>
    show(reply, URL.parse(request.url, deps.baseUrl)?.search.slice(1) ?? ""),
  );

  formRoute(app, deps, "/shared", {
    schema: { body: schemaOf(PAGE).extend({ view }) },
    async run({ request, reply, context, session, body: { view: text, ends, cards = [], ...typed } }) {
      const { accountId } = session;
      const { range, filters } = viewIn(text, request);
      const { page, path, position } = await makeSharedPage(writing, context, accountId, {
        ...{ ...typed, ...range.typed, cards },
        filters: await acceptedFilters(deps, accountId, filters),
        timeZone: range.zone.name,
        endsAt: dayAfter(ends, range.zone),
      });
      const url = `${deps.baseUrl}${path}`;
      return { position, to: () => sendMade(reply, page, url) };
    },
    again,
  });

  formRoute(app, deps, "/shared/:pageId/end", {
    schema: { params: z.object({ pageId: z.uuid() }) },
    // As keys, pages can be ended at any time: there are no more of them than were made.
    count: "uncounted",
    async run({ context, session: { accountId }, params: { pageId } }) {
      const { position } = await endSharedPage(writing, context, accountId, pageId);
      return { position, notice: "The page is ended: its address leads nowhere now." };
    },
    again: "back",
  });

  formRoute(app, deps, "/shared/mails", {
    schema: { body: schemaOf(MAIL).extend({ view }) },
    async run({ request, context, session, body: { name, view: text } }) {
      const typed = viewIn(text, request).filters;
      const filters = await acceptedFilters(deps, session.accountId, typed);
      const { position } = await beginWeeklyMail(deps, context, session.accountId, { name, filters });
      return { position, notice: "The mail comes on Mondays at 8:00." };
    },
    again,
  });

  formRoute(app, deps, "/shared/mails/:mailId/stop", {
    schema: { params: z.object({ mailId: z.uuid() }) },
    count: "uncounted",
    async run({ context, session: { accountId }, params: { mailId } }) {
      const { position } = await stopWeeklyMail(deps, context, accountId, mailId);
      return { position, notice: "The mail is stopped." };
    },
    again: "back",
  });
}

/** When a day is over, in the zone of the page; any other text as it is, which is refused. */
function dayAfter(text: string, zone: TimeZone): string {
  const day = parseDate(text);
  return day === undefined ? text : new Date(instantOf(zone, day + DAY_MS, "start")).toISOString();
}

function pageCard(text: string): Card {
  return {
    title: "A page for others",
    lead: "Whoever has its address sees these numbers, without signing in, and nothing else of your account.",
    form: {
      action: PATH,
      fields: { name: PAGE.name },
      folded: [
        {
          title: "Password, end, and what it shows",
          fields: { password: PAGE.password, ends: PAGE.ends, cards: PAGE.cards },
        },
      ],
      values: { cards: SHARED_CARDS },
      hidden: { view: text },
      buttonKind: "primary",
      button: html`${icon("link")}Make the page`,
    },
  };
}

function mailCard(text: string, hasMailer: boolean): Card {
  const title = "A mail every week";
  if (!hasMailer)
    return { title, lead: "This service sends no mail, as its operator has set no mail server (SMTP_URL)." };
  return {
    title,
    lead: "To the owner of the account, on Mondays at 8:00: the week that is over beside the one before, under the same filters. Each mail has a link that stops it.",
    form: {
      action: MAILS,
      fields: MAIL,
      hidden: { view: text },
      button: html`${icon("send")}Begin the mail`,
    },
  };
}

function sendMade(reply: FastifyReply, { name, passwordId }: SharedPage, url: string): FastifyReply {
  return sendPage(reply, {
    title: `“${name}” is shared`,
    nav: "Analytics",
    cards: [
      {
        title: "Its address",
        lead: `Copy it now: it is shown this once only, as we keep no copy.${passwordId ? " Whoever opens it is asked for the password." : ""}`,
        body: html`${copyable("new-page", url, "the address")}
<div class="actions"><a class="button" href="${url}" target="_blank" rel="noopener">Open it</a><a class="button" href="${PATH}">Go to your shared pages</a></div>`,
      },
    ],
  });
}

const pageColumns = (now: Date): Columns<SharedPage> => ({
  Name: ({ name, passwordId }) =>
    html`<div><strong>${name}</strong>${passwordId && html`<br><span class="muted small">With a password</span>`}</div>`,
  Shows: (page) => `${rangeInWords(page)}, ${filtersInWords(page.filters)}`,
  Made: "at",
  Ends: (page) =>
    isOver(page, now) ? html`<span class="badge">Over</span>` : page.endsAt ? time(page.endsAt) : "Never",
  Actions: {
    isHidden: true,
    end: true,
    cell: ({ pageId, name }) =>
      confirmedPost(
        "End",
        html`The address of <strong>${name}</strong> leads nowhere from then on. This can't be undone.`,
        `${PATH}/${pageId}/end`,
        "End the page",
      ),
  },
});

const MAIL_COLUMNS: Columns<WeeklyMail> = {
  Name: ({ name }) => html`<strong>${name}</strong>`,
  Of: ({ filters }) => capital(filtersInWords(filters)),
  Begun: "at",
  Actions: {
    isHidden: true,
    end: true,
    cell: ({ mailId, name }) =>
      postButton(`${MAILS}/${mailId}/stop`, "Stop", { kind: "small", label: `Stop ${name}` }),
  },
};
