// How often each link of an account was hit in a UTC day, in one bounded list.
import type { LinkClicked } from "../../../events/catalogue.ts";
import { CLICK_KINDS } from "../../../events/vocabulary.ts";
import { OTHER } from "../tally.ts";

/** The link's key; its hits by kind, in the order of CLICK_KINDS. */
export type LinkHits = [link: string, click: number, preview: number, qrScan: number];

const MAX_LINKS = 1_000;
const KEPT_LINKS = 500;

/**
 * Counts a hit in place. `links` are in the order of their keys. Of more than 1,000 the 500 with most hits are kept, and the
 * hits of the others are added up as those of OTHER, which is no link's key: which are kept depends on the order of the hits.
 */
export function countLinkHit(
  links: LinkHits[],
  { link, kind }: Pick<LinkClicked["data"], "link" | "kind">,
): void {
  const place = placeOf(links, link);
  const entry = links[place]?.[0] === link ? links[place] : undefined;
  const hits: LinkHits = entry ?? [link, 0, 0, 0];
  hits[(CLICK_KINDS.indexOf(kind) + 1) as 1 | 2 | 3] += 1;
  if (!entry) links.splice(place, 0, hits);
  if (links.length > MAX_LINKS) prune(links);
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
  const other: LinkHits = links.find(([link]) => link === OTHER) ?? [OTHER, 0, 0, 0];
  for (const [, click, preview, qrScan] of ranked.splice(KEPT_LINKS)) {
    other[1] += click;
    other[2] += preview;
    other[3] += qrScan;
  }
  const kept = [...ranked, other].sort(([a], [b]) => (a < b ? -1 : 1));
  links.splice(0, links.length, ...kept);
}

function byHitsThenKey(a: LinkHits, b: LinkHits): number {
  return hitsOn(b) - hitsOn(a) || (a[0] < b[0] ? -1 : 1);
}

function hitsOn([, click, preview, qrScan]: LinkHits): number {
  return click + preview + qrScan;
}
