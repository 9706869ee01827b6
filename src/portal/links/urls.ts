// URLs as people type and read them.
import { domainToUnicode } from "node:url";

/** Schemes that a number can follow, which would look like a host and its port. */
const NOT_A_HOST = /^(data|fax|javascript|mailto|sms|tel)$/i;

/** One without a scheme, such as example.com/page, is taken as https. As it was typed where it names a scheme, or no host that can be told: the use case says what is wrong with it. */
export function typedUrl(typed: string): string {
  if (typed.startsWith("//")) return `https:${typed}`;
  const [authority = ""] = typed.split(/[/?#]/, 1);
  const [, host = "", port] = /^(\[[\da-f:.]+\]|[^\s@:]+)(:\d+)?$/i.exec(authority) ?? [];
  const isHost = host.includes(".") || /^(localhost|\[.+)$/i.test(host) || (port && !NOT_A_HOST.test(host));
  return isHost ? `https://${typed}` : typed;
}

/** A label of a host is decoded when it is of one of these scripts alone; a mix stays punycode, as browsers do it. */
const SCRIPTS = [
  /^[\p{Script=Latin}\d-]+$/u,
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\d-]+$/u,
  ...["Hangul", "Cyrillic", "Greek", "Arabic", "Hebrew", "Thai", "Devanagari", "Armenian", "Georgian"].map(
    (script) => new RegExp(`^[\\p{Script=${script}}\\p{Mark}\\d-]+$`, "u"),
  ),
];
/** Letters of Cyrillic, Greek and Armenian that look like Latin ones: a label of these alone may pass for another. */
const LIKE_LATIN = /^[аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡαγικνορτυωχօոսհցզ\d-]+$/u;
/** Latin letters that look like others: of phonetics and the like, and the dotless i. */
const ODD_LATIN = /[\u0131\u0180-\u01bf\u0237\u0250-\u02ff\u1d00-\u1dff\u2c60-\u2c7f\ua700-\uab6f]/u;
/** UTF-8 of what isn't ASCII. */
const CODES = /(?:%[89a-f][\da-f])+/gi;
/** Neither spaces and signs, which may look like a slash, nor what changes the direction of a text or can't be seen. */
const LETTERS = /^[\p{L}\p{N}\p{Extended_Pictographic}][\p{L}\p{M}\p{N}\p{Extended_Pictographic}]*$/u;

/** For display only: `url`, with or without its scheme, with the host and the percent codes decoded where it is safe. */
export function readableUrl(url: string): string {
  return url
    .replace(/^(https?:\/\/)?([^/?#:]+)/, (_, scheme = "", host) => scheme + readableHost(host))
    .replace(CODES, readableCodes);
}

function readableHost(host: string): string {
  const decoded = domainToUnicode(host).split(".");
  return host
    .split(".")
    .map((label, n) => (label.startsWith("xn--") && isPlain(decoded[n] ?? "") ? decoded[n] : label))
    .join(".");
}

function isPlain(label: string): boolean {
  return SCRIPTS.some((script) => script.test(label)) && !LIKE_LATIN.test(label) && !ODD_LATIN.test(label);
}

function readableCodes(codes: string): string {
  try {
    const text = decodeURIComponent(codes);
    return LETTERS.test(text) ? text : codes;
  } catch {
    return codes;
  }
}
