// How often each link of an account was hit in a UTC day, in one bounded list that clicks can be taken out of again.
import { OTHER } from "../tally.ts";

/** The link's key; its hits by people (clicks and QR scans), and by bots (previews). */
export type LinkHits = [link: string, people: number, bots: number];

const MAX_LINKS = 1_000;
const KEPT_LINKS = 500;

/**
 * Adds hits of a link in place, or takes out those that its entry has, where they are negative. `links` are in the order of
 * their keys. Of more than 1,000 the 500 with most hits are kept, and the hits of the others are added up as those of OTHER,
 * which is no link's key: which are kept depends on the order of the hits.
 */
export function addLinkHits(links: LinkHits[], [link, people, bots]: LinkHits): void {
  const place = placeOf(links, link);
  const entry = links[place]?.[0] === link ? links[place] : undefined;
  const hits: LinkHits = entry ?? [link, 0, 0];
  hits[1] += people;
  hits[2] += bots;
  if (hits[1] + hits[2] === 0) links.splice(place, entry ? 1 : 0);
  else if (!entry) links.splice(place, 0, hits);
  if (links.length > MAX_LINKS) prune(links);
}

export function isCut(links: readonly LinkHits[]): boolean {
  return links[placeOf(links, OTHER)]?.[0] === OTHER;
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
