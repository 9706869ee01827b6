// What kind of event a hit is, over user agents as they are sent today.
import fc from "fast-check";
import { isbot } from "isbot";
import { describe, expect, it } from "vitest";
import { MISSED_BY_ISBOT, MISTAKEN_BY_ISBOT } from "../../../src/events/classification/automated-agents.ts";
import { isQrScan, kindOf } from "../../../src/events/classification/classify.ts";
import { agentOf } from "../../../src/events/classification/user-agent.ts";
import { DEVICE_TYPES } from "../../../src/events/vocabulary.ts";

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
  [
    "Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; id) Presto/2.12.423 Version/12.16",
    "mobile",
    "Opera Mini",
    "Android",
  ],
  [
    "Mozilla/5.0 (PC; OpenHarmony 5.0; HarmonyOS 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1",
    "desktop",
    "Chrome",
    "OpenHarmony",
  ],
  [
    "Mozilla/5.0 (Phone; OpenHarmony 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1 Mobile",
    "mobile",
    "Chrome",
    "OpenHarmony",
  ],
  [
    "Mozilla/5.0 (Tablet; OpenHarmony 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1",
    "tablet",
    "Chrome",
    "OpenHarmony",
  ],
  [
    "Dalvik/2.1.0 (Linux; U; Android 12; OMIX X5 Build/SP1A) AppleWebKit [PB/172] (KHTML, like Gecko) Chrome/108.0.0.0 Mobile Safari/537.36",
    "mobile",
    "Chrome",
    "Android",
  ],
];

/** Browsers of people that isbot takes for programs: one sample at least for each entry of our corrections. */
const MISTAKEN = [
  "Mozilla/5.0 (iPhone; CPU iPhone OS 13_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/17G68 Ariver/1.1.0 AliApp(AP/10.2.30.6000) Nebula WK RVKType(1) AlipayDefined(nt:WIFI,ws:414|672|3.0) AlipayClient/10.2.30.6000 Alipay Language/en Region/CN NebulaX/1.0.0",
  "Mozilla/5.0 (Linux; U; Android 9; zh-CN; MI MAX 3 Build/PKQ1.190714.001) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/69.0.3497.100 UWS/3.20.0.32 Mobile Safari/537.36 NebulaSDK/1.8.100112 Nebula AlipayDefined(nt:4G,ws:393|0|2.75) AliApp(AP/10.1.78.7000) AlipayClient/10.1.78.7000 Language/zh-Hans",
  "jdapp;iPhone;9.2.0;14.1;network/wifi;jdv/0|kong|t_1|tuiguang;adk/;Mozilla/5.0 (iPhone; CPU iPhone OS 14_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148;supportJDSHWK/1",
  "Mozilla/5.0 (Linux; Android 9; SM-G9600; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/77.0.3865.120 Mobile Safari/537.36 JsSdk/2 NewsArticle/7.6.7 NetType/wifi",
  "Mozilla/5.0 (Linux; U; Android 8.0.0; zh-CN; Mi Note 2 Build/OPR1.170623.032) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/69.0.3497.100 UWS/3.17.0.17 Mobile Safari/537.36 AliApp(TB/8.6.0) UCBS/2.11.1.1 TTID/600000@taobao_android_8.6.0 WindVane/8.5.0 1080X1820",
  "Mozilla/5.0 (Linux; Android 9; SM-G965F Build/PPR1.180610.011; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/78.0.3904.62 XWEB/2889 MMWEBSDK/20210902 Mobile Safari/537.36 MMWEBID/4096 MicroMessenger/8.0.15.2001(0x28000F41) Process/toolsmp WeChat/arm64 Weixin NetType/WIFI Language/en",
  "Mozilla/5.0 (Linux; Android 7.1.1; Nexus 6 Build/NGI55D; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/60.0.3112.116 Mobile Safari/537.36 Instagram 15.0.0.11.90 Android (25/7.1.1; 560dpi; 1440x2392; motorola/google; Nexus 6; shamu; shamu; en_US)",
  "Mozilla/5.0 (Linux; Android 6.0.1; OPPO R9s Plus Build/MMB29M; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/68.0.3440.106 Mobile Safari/537.36 AWP/2.0 SogouMSE,SogouMobileBrowser/5.28.7",
  "UCWEB/2.0 (Java; U; MIDP-2.0; Nokia203/20.37) U2/1.0.0 UCMini/10.4.2.659 (SpeedMode; Proxy; Android 5.1; A1601 ) U2/1.0.0 Mobile",
  "dv(iPh14,5);pr(UCBrowser/13.9.0.1727);ov(15_4_1);ss(390x844);bt(UC);pm(0);bv(0);nm(0);im(0);nt(1);",
  "Mozilla/5.0 (2822MB; 720x1411; 320x319; 411x806; Samsung SM-A115F; 10) AppleWebKit/537.36 (KHTML, like Gecko)  ROBLOX Android App 2.448.411159 Phone Hybrid()  GooglePlayStore RobloxApp/2.448.411159 (GlobalDist; GooglePlayStore)",
  "Mozilla/5.0 (Linux; Android 7.0; VFD 1300 Build/NRD90M; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/59.0.3071.125 Safari/537.36 [air.com.A888poker/1.0]",
  "Mozilla/5.0 (Linux; Android 11; iHunt S60 Discovery Pro 2022) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0.4664.45 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; U; Android 4.2.2; it-it; S308 Build/CUBOT) AppleWebKit/534.30 (KHTML, like Gecko) Version/4.0 Mobile Safari/534.30",
  "Opera/9.80 NETTV/4.5.0 Mozilla/5.0 (Linux armv7i; CE-HTML/1.0; U; en) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/49.0.2623.75 Safari/537.36 NETRANGEMMH Tbrowser/2.0",
  "Mozilla/5.0 (Linux armv7l) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/84.0.4147.140 Safari/537.36 OPR/46.0.2207.0 OMI/4.21.4.112.Catcher4.69 Model/Hisense-MT9602",
  "FLY_E141TV_PLUS/ WAP Browser/MAUI(HTTP PGDL;HTTPS)Profile/Q03C1-2.40 ru-RU",
];

/** Apps through the HTTP client of their phone's system, which public lists count among people's browsers. */
const APPS = [
  "Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/AP1A.240505.004)",
  "Example/412 CFNetwork/1494.0.7 Darwin/23.4.0",
];

/** HTTP clients whose names isbot passes over: one sample at least for each entry of our own list. */
const MISSED = [
  "Dart/3.4 (dart:io)",
  "Viber/6.0.1 CFNetwork/758.4.3 Darwin/15.5.0",
  "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.22621.2506",
  "Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.22631; en-US) PowerShell/7.4.2",
  "Mozilla/5.0 (pc-x86_64-linux-gnu) Siege/4.1.6",
  "Mozilla/4.0 (compatible; ms-office; MSOffice 16)",
  "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Win64; x64; Trident/7.0; .NET4.0C; .NET4.0E; ms-office; MSOffice 16)",
  "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.1; Trident/7.0; Microsoft Outlook 16.0.4266; Microsoft Outlook 16.0.4266)",
  "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17328; Pro)",
  "MacOutlook/16.85.0 (Intel Mac OS X Version 14.4 (Build 23E214))",
  "Outlook-iOS/723.4027091.prod.iphone (4.28.0)",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_2_1) AppleWebKit/605.1.15 (KHTML, like Gecko) Microsoft Outlook/16.81",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X) Word/16.80",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Claude/0.9.3 Chrome/128.0.6613.186 Electron/32.2.7 Safari/537.36",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Code/1.115.0 Chrome/142.0.7444.265 Electron/39.8.5 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko; Amzn-User/0.1) Chrome/119.0.6045.214 Safari/537.36",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/117.0.0.0 Safari/537.36 GTmetrix",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) AppleWebKit/537.36 (KHTML, like Gecko) YLT Chrome/85.0.4183.121 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7; TSM-turingos-1253296984) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36",
];

/** Other crawlers are in the public lists (public-agents.test.ts). */
const PROGRAMS = [
  ...MISSED,
  "MacOutlook/16.85",
  "Amzn-User/0.1",
  "Claude-User/1.0",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "facebookexternalhit/1.1;line-poker/1.0",
  "Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)",
  "Viber/13.0.0.5 (url preview)",
  "Misskey/2024.3.1 (https://misskey.io)",
  "Pleroma 2.5.0; https://example.social <admin@example.social>",
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
  it.each(APPS)("is click for a person's app: %s", (userAgent) => {
    expect(judged(userAgent)).toBe("click");
  });

  it.each(MISTAKEN)("is click for a person's browser that isbot takes for a program: %s", (userAgent) => {
    expect(judged(userAgent)).toBe("click");
    expect(judged(userAgent, { query: "qr=1" })).toBe("qr_scan");
    expect(agentOf(userAgent).device).not.toBe("bot");
  });

  it.each(PEOPLE)("is click for a person's browser, which is named: %s", (userAgent, device, browser, os) => {
    expect(judged(userAgent)).toBe("click");
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

describe("our corrections of isbot", () => {
  it.each(MISTAKEN_BY_ISBOT)("are still needed: $why", ({ part }) => {
    const without = (userAgent: string) => userAgent.replace(new RegExp(part.source, "gi"), "+");
    const samples = MISTAKEN.filter((userAgent) => without(userAgent) !== userAgent);
    expect(samples.filter((userAgent) => isbot(userAgent) && !isbot(without(userAgent)))).not.toEqual([]);
  });

  it("keep a crawler that has words of such browsers", () => {
    for (const userAgent of MISTAKEN) {
      const crawler = `${userAgent} (compatible; Googlebot/2.1; +http://www.google.com/bot.html)`;
      expect(judged(crawler), crawler).toBe("preview");
    }
  });
});

describe("any user agent", () => {
  /** Samples cut and joined at random, among any other characters. */
  const piece = fc.oneof(
    fc.constantFrom(...PROGRAMS, ...MISTAKEN, ...PEOPLE.map(([userAgent]) => userAgent)),
    fc.string({ unit: "binary", maxLength: 40 }),
  );
  const cut = fc
    .tuple(piece, fc.nat(200), fc.nat(200))
    .map(([text, from, length]) => text.slice(from, from + length));
  const mixture = fc.array(cut, { maxLength: 6 }).map((pieces) => pieces.join(""));

  it("gets a device of the list, a bot's for a program and no other", () => {
    fc.assert(
      fc.property(mixture, (userAgent) => {
        const { automated, device } = agentOf(userAgent);
        expect(DEVICE_TYPES).toContain(device);
        expect(device === "bot").toBe(automated);
      }),
      { numRuns: 2_000 },
    );
  });
});
