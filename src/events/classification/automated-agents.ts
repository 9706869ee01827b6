// Detects user agents of programs rather than browsers: isbot's list, with the corrections of it that we know of.
import { isbot } from "isbot";

/** Programs that isbot does not detect; a test fails when isbot detects one of them by itself. */
export const MISSED_BY_ISBOT: readonly RegExp[] = [
  ...[/^dart\//i, /^viber\//i, /powershell\//i, /\bsiege\//i],
  // Office opens a link itself before it hands it to the browser, in which the same person follows it.
  /\bms-office\b|\bMSOffice \d|^Microsoft Office\/|\bMicrosoft Outlook\b|\bMacOutlook\/|^Outlook-iOS\//i,
  /\bMac OS X[^()]*\) (?:Word|Excel|PowerPoint|OneNote)\/\d/i,
  // The panes of assistants and of editors with one, on desktops.
  /\b(?:Claude|ChatGPT|Codex|Code|Cursor|Windsurf|Trae|Kiro|Antigravity)\/\d.*\bElectron\/\d/i,
  // Fetchers for somebody who asked an assistant.
  /\b[a-z]+-User\/\d/i,
  // Testers of pages.
  /\b(?:GTmetrix|DebugBear|Sitespeed\.io|Miniature\.io|Yellowlab(?:tools)?)\b|\bYLT Chrome\//i,
  /\bTSM-turingos\b/i,
];

type Mistake = {
  part: RegExp;
  why: string;
  /** Only in agents that name a phone's system, as crawlers that claim to be desktop browsers have such parts. */
  onPhones?: true;
};

/**
 * Parts of people's browsers that isbot takes for a program's, each with the reason; isbot is asked again without
 * them. A test fails when isbot no longer needs one of them.
 */
export const MISTAKEN_BY_ISBOT: readonly Mistake[] = [
  { part: /\|/, onPhones: true, why: "Alipay, Baidu, JD and other apps separate what they add by |" },
  { part: /\b\w*news\w*(?=\/\d)/, onPhones: true, why: "apps for news: Toutiao, Apple News, SmartNews" },
  { part: /\d@\w+_(?=(?:android|andorid|iphone|ipad)_)/, why: "apps of Alibaba: channel@app_system_version" },
  { part: /\bProcess\/tools/, why: "WeChat names its process" },
  { part: /\/google(?=; )/, why: "Instagram names the phone's maker" },
  { part: /\bSogou(?:MSE|MobileBrowser|Search)\b/, why: "Sogou's browser and app; its crawlers are spiders" },
  { part: /\(SpeedMode; Proxy;|^dv\(\S*;pr\(UCBrowser\/\S*/, why: "UC Browser through its own proxy" },
  { part: /\bHybrid\(\)|\bGooglePlayStore\b/, why: "Roblox" },
  { part: /\b[a-z]{2,3}\.com\.\w/, why: "names of Android packages" },
  {
    part: nameOfPhone("capture|cubot|discovery|google|newsday|radar|virtuoso"),
    why: "phones and TVs of these names",
  },
  { part: /\b(?:CE-HTML|HbbTV|NETTV|Freesat)\/1\.0|\bOMI\/[\w.]+/, why: "standards and programs of TVs" },
  { part: /\bMAUI ?\([^)]*\)/, why: "MAUI, the system of many simple phones" },
];

const PHONE = /\b(?:iPhone|iPad|iPod|Android)\b/i;
/** No word to isbot, neither alone nor with what stands around it. */
const NEUTRAL = "+";

const missed = anyOf(MISSED_BY_ISBOT, "i");
const mistakenOnPhones = anyOf(partsOf(MISTAKEN_BY_ISBOT), "gi");
const mistaken = anyOf(partsOf(MISTAKEN_BY_ISBOT.filter(({ onPhones }) => !onPhones)), "gi");

/** An empty user agent counts as automated: browsers always send one. */
export function isAutomated(userAgent: string): boolean {
  if (userAgent === "" || missed.test(userAgent)) return true;
  if (!isbot(userAgent)) return false;
  return isbot(userAgent.replace(PHONE.test(userAgent) ? mistakenOnPhones : mistaken, NEUTRAL));
}

/** Browsers for Android name the device behind the version of the system and, at times, a language. */
function nameOfPhone(names: string): RegExp {
  return new RegExp(`(?:${names})(?<=Android [\\d.]+; (?:\\w\\w-\\w\\w; )?[\\w ./-]*)`);
}

function partsOf(mistakes: readonly Mistake[]): RegExp[] {
  return mistakes.map(({ part }) => part);
}

function anyOf(patterns: readonly RegExp[], flags: string): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"), flags);
}
