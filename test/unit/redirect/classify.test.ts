// What kind of event a hit is, over user agents as they are sent today.
import { isbot } from "isbot";
import { describe, expect, it } from "vitest";
import { MISSED_BY_ISBOT } from "../../../src/classification/automated-agents.ts";
import { isQrScan, kindOf } from "../../../src/classification/classify.ts";
import { agentOf } from "../../../src/classification/user-agent.ts";

const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36";

const PEOPLE: [string, string, string, string][] = [
  [CHROME, "desktop", "Chrome", "Windows"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
    "desktop",
    "Safari",
    "Mac OS",
  ],
  [
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
    "desktop",
    "Firefox",
    "Ubuntu",
  ],
  [
    "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "desktop",
    "Chrome",
    "Chromium OS",
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
    "desktop",
    "Edge",
    "Windows",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
    "mobile",
    "Mobile Safari",
    "iOS",
  ],
  [
    "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1",
    "tablet",
    "Mobile Safari",
    "iOS",
  ],
  [
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
    "mobile",
    "Chrome",
    "Android",
  ],
  [
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
    "mobile",
    "Chrome",
    "Android",
  ],
  [
    "Mozilla/5.0 (Linux; Android 13; SM-X906C) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
    "tablet",
    "Chrome",
    "Android",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/468.0;FBDV/iPhone14,5]",
    "mobile",
    "Facebook",
    "iOS",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 336.0.0.20.84 (iPhone14,5; iOS 17_5)",
    "mobile",
    "Instagram",
    "iOS",
  ],
  [
    "Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/3.0 Chrome/76.0.3809.146 TV Safari/537.36",
    "unknown",
    "Samsung Internet",
    "Tizen",
  ],
];

/** HTTP clients whose names isbot passes over: one sample at least for each entry of our own list. */
const MISSED = [
  "Dart/3.4 (dart:io)",
  "Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/AP1A.240505.004)",
  "Example/412 CFNetwork/1494.0.7 Darwin/23.4.0",
  "Viber/6.0.1 CFNetwork/758.4.3 Darwin/15.5.0",
  "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.22621.2506",
  "Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.22631; en-US) PowerShell/7.4.2",
  "Mozilla/5.0 (pc-x86_64-linux-gnu) Siege/4.1.6",
];

const PROGRAMS = [
  ...MISSED,
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "Facebot",
  "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
  "WhatsApp/2.23.20.0 A",
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "Slack-ImgProxy (+https://api.slack.com/robots)",
  "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/103.0 Safari/537.36 BingPreview/1.0b",
  "Iframely/1.3.1 (+https://iframely.com/docs/about)",
  "Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)",
  "Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)",
  "Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)",
  "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; TikTokSpider; ttspider-feedback@tiktok.com)",
  "Twitterbot/1.0",
  "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
  "TelegramBot (like TwitterBot)",
  "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
  "Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)",
  "Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)",
  "Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)",
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
  "Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots",
  "Viber/13.0.0.5 (url preview)",
  "facebookexternalhit/1.1;line-poker/1.0",
  "facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984",
  "Mozilla/5.0 (compatible; Yahoo Link Preview; https://help.yahoo.com/kb/mail/yahoo-link-preview-SLN23615.html)",
  "Mastodon/4.3.0 (http.rb/5.2.0; +https://mastodon.social/)",
  "Misskey/2024.3.1 (https://misskey.io)",
  "Pleroma 2.5.0; https://example.social <admin@example.social>",
  "Quora Link Preview/1.0 (http://www.quora.com)",
  "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
  "curl/8.7.1",
  "Wget/1.21.4",
  "python-requests/2.32.3",
  "HTTPie/3.2.2",
  "Go-http-client/2.0",
  "node",
  "undici",
  "axios/1.7.2",
  "got (https://github.com/sindresorhus/got)",
  "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)",
  "Bun/1.1.13",
  "Deno/1.44.0",
  "okhttp/4.12.0",
  "Java/17.0.2",
  "Apache-HttpClient/4.5.14 (Java/17.0.2)",
  "libwww-perl/6.67",
  "Ruby",
  "Faraday v2.9.0",
  "PHP/8.2.0",
  "GuzzleHttp/7",
  "PostmanRuntime/7.39.0",
  "insomnia/9.2.0",
  "reqwest/0.12.4",
  "k6/0.51.0 (https://k6.io/)",
  "ApacheBench/2.3",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1",
  "",
];

const judged = (
  userAgent: string,
  facts: { method?: "GET" | "HEAD"; query?: string; prefetch?: string } = {},
) =>
  kindOf({
    ...{ method: "GET", prefetch: "", ...facts },
    isScan: isQrScan(facts.query ?? ""),
    automated: agentOf(userAgent).automated,
  });

describe("the kind of a hit", () => {
  it.each(PEOPLE)("is click for a person's browser: %s", (userAgent) => {
    expect(judged(userAgent)).toBe("click");
  });

  it.each(PEOPLE)("comes with device, browser and system: %s", (userAgent, device, browser, os) => {
    const agent = agentOf(userAgent);
    expect([agent.device, agent.browser?.name, agent.os?.name]).toEqual([device, browser, os]);
  });

  it.each(PROGRAMS)("is preview for a program, also at the QR address: %s", (userAgent) => {
    expect(judged(userAgent)).toBe("preview");
    expect(judged(userAgent, { query: "qr=1" })).toBe("preview");
    expect(agentOf(userAgent).device).toBe("bot");
  });

  it("is qr_scan for a person at the address that the QR image encodes, and only there", () => {
    expect(judged(CHROME, { query: "qr=1" })).toBe("qr_scan");
    expect(judged(CHROME, { query: "utm_source=x&qr=1" })).toBe("qr_scan");
    for (const query of ["qr=11", "qr=0", "qr", "xqr=1", "a=qr=1", ""])
      expect(judged(CHROME, { query })).toBe("click");
  });

  it("is preview for HEAD and for what a browser fetches ahead", () => {
    expect(judged(CHROME, { method: "HEAD", query: "qr=1" })).toBe("preview");
    for (const prefetch of [
      "prefetch",
      "prefetch;prerender",
      "prefetch;anonymous-client-ip",
      "preview",
      "Prerender",
    ])
      expect(judged(CHROME, { prefetch })).toBe("preview");
    expect(judged(CHROME, { prefetch: "other" })).toBe("click");
  });
});

describe("our own list of programs", () => {
  it.each(MISSED_BY_ISBOT)("names with %s only what isbot misses", (entry) => {
    const samples = MISSED.filter((userAgent) => entry.test(userAgent));
    expect(samples).not.toEqual([]);
    expect(samples.filter((userAgent) => isbot(userAgent))).toEqual([]);
  });
});
