// What visitors meet at links (events/links/link-status.ts), by the documents of their domains and of their clicks; and the part of a
// search that finds the links of one status.

import { Refused } from "../../commands/refusals.ts";
import type { LinkFlags } from "../../events/link-events.ts";
import type { LinkOptions } from "../../events/link-options.ts";
import { type LinkStatus, linkStatus, statusFacts } from "../../events/links/link-status.ts";
import { linkKey } from "../../events/streams.ts";
import { orNotBuilt } from "../../projections/builds/errors.ts";
import { type DomainDocument, domains, isInService } from "../../projections/definitions/domains.ts";
import { type LinkTotalsDocument, linkTotals } from "../../projections/definitions/link-totals.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { documentPages, documentsById } from "../../stores/read-store/document-pages.ts";
import type { CountQuery, ReadStore } from "../../stores/read-store/port.ts";
import { listDomains } from "../domains.ts";

export type StatusDeps = { readStore: ReadStore; baseHost: string; clock: () => Date };

/** A link's document, or its state in a command. */
export type JudgedLink = LinkFlags &
  LinkOptions &
  Pick<LinkDocument, "host" | "slug" | "accountId"> & { block?: object | null | undefined };

const PAGE = 1_000;
/** Links of an account whose status time or clicks decide, as many as one search compares: some 0.3 s. */
const MOST_COMPARED = 20_000;

export async function statusOf(deps: StatusDeps, link: JudgedLink): Promise<LinkStatus> {
  return (await statusesOf(deps, [link]))[0] as LinkStatus;
}

/**
 * In the order of the links, as of now. While documents are folded anew nobody knows of their clicks, nor whether a domain is
 * active: the links are then as if there were none, and it were.
 */
export async function statusesOf(
  { readStore, baseHost, clock }: StatusDeps,
  judged: readonly JudgedLink[],
): Promise<LinkStatus[]> {
  const limited = judged.filter(({ maxClicks }) => maxClicks !== undefined);
  const onDomains = judged.filter(({ host }) => host !== baseHost);
  const [counted, owned] = await Promise.all([
    orNotBuilt(documentsById<LinkTotalsDocument>(readStore, linkTotals.name, limited.map(keyOf), ["people"])),
    orNotBuilt(documentsById<DomainDocument>(readStore, domains.collection.name, onDomains.map(domainOf))),
  ]);
  const isServed = (link: JudgedLink) => {
    const domain = owned?.get(domainOf(link));
    return link.host === baseHost || owned === undefined || (domain !== undefined && isInService(domain));
  };
  const now = clock().getTime();
  return judged.map((link) =>
    linkStatus(statusFacts(link), {
      now,
      people: counted?.get(keyOf(link))?.people ?? 0,
      isServed: isServed(link),
    }),
  );
}

function keyOf({ host, slug }: JudgedLink): string {
  return linkKey(host, slug);
}

/** The id of its domain's document. */
function domainOf({ accountId, host }: JudgedLink): string {
  return `${accountId}/${host}`;
}

/**
 * `query` for the links of the status alone, of one account. Those whose status time or clicks decide are compared one by one,
 * so that pages and totals are exact. @throws too_many_links
 */
export async function withStatus(
  deps: StatusDeps,
  accountId: string,
  query: CountQuery,
  status: LinkStatus,
): Promise<CountQuery> {
  const { deleted: _, ...where } = query.where ?? {};
  if (status === "deleted") return { ...query, where: { ...where, deleted: true } };
  const existing = { ...query, where: { ...where, deleted: false } };
  const hosts = await servedHosts(deps, accountId);
  if (status === "domain_inactive") return { ...existing, notIn: { host: hosts } };
  const served = { ...existing, in: { ...existing.in, host: hosts } };
  if (status === "blocked" || status === "disabled")
    return { ...served, where: { accountId, ...where, coarseStatus: status } };
  const fitting: string[] = [];
  const others: string[] = [];
  const conditional = { ...served, where: { accountId, ...where, coarseStatus: "conditional" } };
  for await (const page of documentPages<LinkDocument>(deps.readStore, links.collection.name, {
    ...conditional,
    sort: { field: "createdAt", direction: "desc" },
    limit: PAGE,
  })) {
    const statuses = await statusesOf(deps, page);
    for (const [n, { _id }] of page.entries()) (statuses[n] === status ? fitting : others).push(_id);
    if (fitting.length + others.length > MOST_COMPARED) throw new Refused("too_many_links");
  }
  if (status !== "live") return { ...conditional, in: { ...conditional.in, _id: fitting } };
  const coarse = { coarseStatus: ["live", "conditional"] };
  return { ...served, in: { ...served.in, ...coarse }, notIn: { _id: others } };
}

/** The base host, and the account's domains in service. */
async function servedHosts({ readStore, baseHost }: StatusDeps, accountId: string): Promise<string[]> {
  const own = await listDomains({ readStore }, accountId);
  return [baseHost, ...own.filter(isInService).map(({ hostname }) => hostname)];
}
