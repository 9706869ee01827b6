// The visitors that benchmarks and the demo send, the same ones at every run.
const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";
const CHROME = [112, 114, 116, 118, 120, 122, 124, 126, 128, 130, 131].map(
  (major) => `Chrome/${major}.0.0.0`,
);
const ANDROID = ["11", "12", "13", "14", "15"].map((version) => `Linux; Android ${version}`);
const PHONES = ["SM-S911B", "SM-A546E", "Pixel 7", "Pixel 8 Pro", "2201116SG", "CPH2531", "M2101K6G"];
const TABLETS = ["SM-X710", "SM-T870", "Lenovo TB-J606F", "Pixel Tablet"];
const IOS = ["15_7", "16_5", "16_6_1", "17_1", "17_4_1", "17_6", "18_0", "18_1"];
const IPHONES = Array.from({ length: 20 }, (_, n) => `${n + 15}E148`);
const DESKTOPS = [
  "Windows NT 10.0; Win64; x64",
  "X11; Linux x86_64",
  "X11; CrOS x86_64 14541.0.0",
  "Macintosh; Intel Mac OS X 10_15_7",
  "Macintosh; Intel Mac OS X 14_4",
];
const FIREFOX = ["115.0", "121.0", "125.0", "128.0", "131.0", "132.0"];

export const mobiles: readonly string[] = [
  ...every(ANDROID, PHONES, CHROME).map(
    ([android, phone, chrome]) =>
      `Mozilla/5.0 (${android}; ${phone}) ${WEBKIT} ${chrome} Mobile Safari/537.36`,
  ),
  ...every(IOS, IPHONES).map(([ios = "", build]) =>
    safari(`iPhone; CPU iPhone OS ${ios} like Mac OS X`, ios, ` Mobile/${build}`),
  ),
];

export const tablets: readonly string[] = [
  ...every(ANDROID, TABLETS, CHROME).map(
    ([android, tablet, chrome]) => `Mozilla/5.0 (${android}; ${tablet}) ${WEBKIT} ${chrome} Safari/537.36`,
  ),
  ...IOS.map((ios) => safari(`iPad; CPU OS ${ios} like Mac OS X`, ios, " Mobile/15E148")),
];

export const desktops: readonly string[] = [
  ...every(DESKTOPS, CHROME, [
    "",
    " Edg/130.0.0.0",
    " Edg/131.0.0.0",
    " OPR/114.0.0.0",
    " OPR/115.0.0.0",
  ]).map(([system, chrome, brand]) => `Mozilla/5.0 (${system}) ${WEBKIT} ${chrome} Safari/537.36${brand}`),
  ...every(DESKTOPS, FIREFOX).map(
    ([system, firefox]) => `Mozilla/5.0 (${system}; rv:${firefox}) Gecko/20100101 Firefox/${firefox}`,
  ),
  ...["16_6", "17_4", "18_1"].map((version) => safari("Macintosh; Intel Mac OS X 10_15_7", version, "")),
];

export const bots: readonly string[] = [
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "Twitterbot/1.0",
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "WhatsApp/2.23.20.0",
  "curl/8.5.0",
];

const VISITORS = 100_000;
const REFERRERS = ["https://www.google.com/", "https://t.co/", "https://news.ycombinator.com/item?id=1"];
const LANGUAGES = ["en-US,en;q=0.9", "de-DE,de;q=0.9", "fr-FR,fr;q=0.8", "pt-BR,pt;q=0.9", "ja-JP,ja;q=0.9"];
const NETWORKS = [5, 31, 46, 62, 78, 82, 89, 91, 101, 110, 121, 133, 151, 177, 186, 190, 200, 203, 212, 217];

export type Visitor = { address: string; userAgent: string; language: string; referrer: string };

/** 100,000 visitors of many countries; a third of them come from another site, 3 % are crawlers and tools. */
export function visitors(): Visitor[] {
  const people = [...mobiles, ...desktops, ...tablets];
  return Array.from({ length: VISITORS }, (_, visitor) => {
    const n = scatter(visitor);
    return {
      address: `${pick(NETWORKS, n)}.${(n >> 8) % 250}.${n % 251}.${1 + (Math.floor(n / 251) % 250)}`,
      userAgent: pick(n % 100 < 3 ? bots : people, n),
      language: pick(LANGUAGES, n),
      referrer: n % 3 === 0 ? pick(REFERRERS, n) : "",
    };
  });
}

/** The i-th item, modulo the length. */
export function pick<T>(list: readonly T[], i: number): T {
  return list[i % list.length] as T;
}

function safari(system: string, version: string, mobile: string): string {
  const webkit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
  return `Mozilla/5.0 (${system}) ${webkit} Version/${version.split("_")[0]}.0${mobile} Safari/604.1`;
}

/** A bijection on numbers below 2 ** 32, so that neighbours differ in all properties. */
function scatter(n: number): number {
  return Math.imul(n, 2_654_435_761) >>> 0;
}

/** The Cartesian product of the lists. */
function every(...lists: (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>(
    (rows, list) => rows.flatMap((row) => list.map((value) => [...row, value])),
    [[]],
  );
}
