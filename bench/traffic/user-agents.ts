// Realistic user agents of phones, tablets, desktops and crawlers.

const CHROME = [112, 114, 116, 118, 120, 122, 124, 126, 128, 130, 131].map((major) => `${major}.0.0.0`);
const ANDROID_PHONES = ["SM-S911B", "SM-A546E", "Pixel 7", "Pixel 8 Pro", "2201116SG", "CPH2531", "M2101K6G"];
const ANDROID_TABLETS = ["SM-X710", "SM-T870", "Lenovo TB-J606F", "Pixel Tablet"];
const ANDROID = ["11", "12", "13", "14", "15"];
const IOS = ["15_7", "16_5", "16_6_1", "17_1", "17_4_1", "17_6", "18_0", "18_1"];
const MACS = ["10_15_7", "13_6", "14_4"];
const FIREFOX = ["115.0", "121.0", "125.0", "128.0", "131.0", "132.0"];
const DESKTOPS = ["Windows NT 10.0; Win64; x64", "X11; Linux x86_64", "X11; CrOS x86_64 14541.0.0"];

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";
const IOS_WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

export const mobiles: readonly string[] = [
  ...every(ANDROID, ANDROID_PHONES, CHROME).map(
    ([android, phone, chrome]) =>
      `Mozilla/5.0 (Linux; Android ${android}; ${phone}) ${WEBKIT} Chrome/${chrome} Mobile Safari/537.36`,
  ),
  ...every(IOS, ["15E148", "21F90"]).map(
    ([ios = "", build]) =>
      `Mozilla/5.0 (iPhone; CPU iPhone OS ${ios} like Mac OS X) ${IOS_WEBKIT} Version/${ios.split("_")[0]}.0 Mobile/${build} Safari/604.1`,
  ),
  ...every(ANDROID, ANDROID_PHONES, ["23.0", "25.0"]).map(
    ([android, phone, samsung]) =>
      `Mozilla/5.0 (Linux; Android ${android}; ${phone}) ${WEBKIT} SamsungBrowser/${samsung} Chrome/115.0.0.0 Mobile Safari/537.36`,
  ),
];

export const tablets: readonly string[] = [
  ...every(ANDROID, ANDROID_TABLETS, CHROME).map(
    ([android, tablet, chrome]) =>
      `Mozilla/5.0 (Linux; Android ${android}; ${tablet}) ${WEBKIT} Chrome/${chrome} Safari/537.36`,
  ),
  ...every(IOS).map(
    ([ios = ""]) =>
      `Mozilla/5.0 (iPad; CPU OS ${ios} like Mac OS X) ${IOS_WEBKIT} Version/${ios.split("_")[0]}.0 Mobile/15E148 Safari/604.1`,
  ),
];

export const desktops: readonly string[] = [
  ...every([...DESKTOPS, ...macs()], CHROME).map(
    ([system, chrome]) => `Mozilla/5.0 (${system}) ${WEBKIT} Chrome/${chrome} Safari/537.36`,
  ),
  ...every([...DESKTOPS, ...macs()], CHROME).map(
    ([system, chrome]) => `Mozilla/5.0 (${system}) ${WEBKIT} Chrome/${chrome} Safari/537.36 Edg/${chrome}`,
  ),
  ...every([...DESKTOPS, ...macs()], CHROME, ["104.0.0.0", "106.0.0.0", "114.0.0.0", "115.0.0.0"]).map(
    ([system, chrome, opera]) =>
      `Mozilla/5.0 (${system}) ${WEBKIT} Chrome/${chrome} Safari/537.36 OPR/${opera}`,
  ),
  ...every([...DESKTOPS, "Macintosh; Intel Mac OS X 10.15"], FIREFOX).map(
    ([system, firefox]) => `Mozilla/5.0 (${system}; rv:${firefox}) Gecko/20100101 Firefox/${firefox}`,
  ),
  ...every(macs(), ["16.6", "17.4", "17.6", "18.0", "18.1"]).map(
    ([mac, safari]) => `Mozilla/5.0 (${mac}) ${IOS_WEBKIT} Version/${safari} Safari/605.1.15`,
  ),
];

export const bots: readonly string[] = [
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "Twitterbot/1.0",
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "WhatsApp/2.23.20.0",
  "TelegramBot (like TwitterBot)",
  "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
  "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
  "curl/8.5.0",
  "python-requests/2.31.0",
];

/** Browsers first, then 3 % of crawlers and tools. */
export function mixedUserAgents(count: number): string[] {
  const people = [...mobiles, ...desktops, ...tablets];
  const automata = Math.ceil(count * 0.03);
  return Array.from({ length: count }, (_, i) =>
    i < count - automata ? pick(people, i) : `${pick(bots, i)}${i < bots.length ? "" : ` (${i})`}`,
  );
}

/** The i-th item, modulo the length. */
export function pick(list: readonly string[], i: number): string {
  return list[i % list.length] ?? "";
}

function macs(): string[] {
  return MACS.map((version) => `Macintosh; Intel Mac OS X ${version}`);
}

/** The Cartesian product of the lists. */
function every(...lists: (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>(
    (rows, list) => rows.flatMap((row) => list.map((value) => [...row, value])),
    [[]],
  );
}
