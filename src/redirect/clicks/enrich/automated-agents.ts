// Which user agents are programs: link-preview bots and tools of our own list, crawlers of isbot's.
import { isbot } from "isbot";

/** In-app browsers of the same companies are people, so names are as narrow as they can be. */
const LINK_PREVIEWS = new RegExp(
  [
    "facebookexternalhit",
    "facebookcatalog",
    "facebot",
    "meta-external(?:agent|fetcher|ads)",
    "^whatsapp/",
    "slackbot",
    "slack-imgproxy",
    "skypeuripreview",
    "microsoftpreview",
    "msteams.*preview",
    "bingpreview",
    "iframely",
    "embedly",
    "vkshare",
    "bluesky|cardyb",
    "tiktokspider|bytespider",
    "twitterbot",
    "linkedinbot",
    "telegrambot",
    "discordbot",
    "mastodon/|misskey/|pleroma|akkoma",
    "pinterestbot|pinterest\\.com/bot",
    "redditbot",
    "applebot",
    "snap url preview",
    "viber(?:bot|.*url preview)",
    "line-?poker|linespider",
    "kakaotalk-scrap",
    "yahoo link preview",
    "google-(?:inspectiontool|read-aloud|safety|extended|site-verification|structured|pagerenderer|adwords|producer|notebooklm|cloudvertexbot|video|document)",
    "googleother|googleimageproxy|feedfetcher|mediapartners|storebot|apis-google|duplexweb",
    "outbrain|flipboardproxy|nuzzel|rogerbot|quora link preview|tumblr/|bitlybot|zoominfobot",
  ].join("|"),
  "i",
);

const TOOLS =
  /^(?:curl|wget|httpie|xh|python|aiohttp|httpx|go-http-client|node|undici|axios|got|superagent|bun|deno|okhttp|java|apache-httpclient|jakarta|libwww-perl|lwp|perl|ruby|faraday|php|guzzle|postmanruntime|insomnia|restsharp|dart|rust|reqwest|hyper|winhttp|autocannon|k6|vegeta|hey|ab|wrk|siege|jmeter|uptime|pingdom)\b|windowspowershell|headlesschrome|phantomjs|electron-fetch/i;

/** An empty user agent counts as a tool: no browser leaves it out. */
export function isAutomated(userAgent: string): boolean {
  return userAgent === "" || LINK_PREVIEWS.test(userAgent) || TOOLS.test(userAgent) || isbot(userAgent);
}
