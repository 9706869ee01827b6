// How often each link of an account was hit in a UTC day, in one bounded list that clicks can be taken out of again.
import type { LinkClicked } from "../../../events/catalogue.ts";
import { OTHER } from "../tally.ts";

/** The link's key; its hits by people (clicks and QR scans), and by bots (previews). */
export type LinkHits = [link: string, people: number, bots: number];

/** Of one link and kind. */
type Hit = Pick<LinkClicked["data"], "link" | "kind">;

const MAX_LINKS = 1_000;
const KEPT_LINKS = 500;

/**
 * Counts the hit in place. `links` are in the order of their keys, whatever the order of the hits. Of more than 1,000 the
 * 500 with most hits are kept, and the hits of the others are added up as those of OTHER, which is no link's key.
 */
export function countLink(links: LinkHits[], { link, kind }: Hit): void {
  const place = placeOf(links, link);
  const found = links[place];
  const hits: LinkHits = found?.[0] === link ? found : [link, 0, 0];
  hits[columnOf(kind)] += 1;
  if (hits === found) return;
  links.splice(place, 0, hits);
  if (links.length > MAX_LINKS) prune(links);
}

/** Undoes countLink, in place. A hit that the link's entry doesn't have was added to OTHER. */
export function uncountLink(links: LinkHits[], { link, kind }: Hit): void {
  const column = columnOf(kind);
  for (const key of [link, OTHER]) {
    const place = placeOf(links, key);
    const hits = links[place];
    if (hits?.[0] !== key || hits[column] === 0) continue;
    hits[column] -= 1;
    if (hits[1] + hits[2] === 0) links.splice(place, 1);
    return;
  }
}

function columnOf(kind: Hit["kind"]): 1 | 2 {
  return kind === "preview" ? 2 : 1;
}

/** Index of the key, or where it would have to be. */
function placeOf(links: readonly LinkHits[], key: string): number {
  let [low, high] = [0, links.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((links[middle] as LinkHits)[0] < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function prune(links: LinkHits[]): void {
  const ranked = links.filter(([link]) => link !== OTHER).sort(byHitsThenKey);
  const other = links.find(([link]) => link === OTHER) ?? [OTHER, 0, 0];
  for (const [, people, bots] of ranked.splice(KEPT_LINKS)) {
    other[1] += people;
    other[2] += bots;
  }
  const kept = [...ranked, other].sort(([a], [b]) => (a < b ? -1 : 1));
  links.splice(0, links.length, ...kept);
}

function byHitsThenKey(a: LinkHits, b: LinkHits): number {
  return b[1] + b[2] - a[1] - a[2] || (a[0] < b[0] ? -1 : 1);
}
