// Parses a user agent into the browser, operating system and device type that analytics count by.
import { type IResult, UAParser } from "ua-parser-js";
import { type DeviceType, UNKNOWN } from "../vocabulary.ts";
import { isAutomated } from "./automated-agents.ts";
import { cleanText } from "./clean-text.ts";

type Named = { name: string; version?: string | undefined };
export type Agent = {
  userAgent: string;
  /** A crawler, link-preview bot or tool rather than a person's browser. */
  automated: boolean;
  device: DeviceType;
  /** Undefined when not recognised, as `os`. */
  browser: Named | undefined;
  os: Named | undefined;
};

const MAX_LENGTH = 512;
const DESKTOP_SYSTEMS =
  /^(windows|mac os|linux|chromium os|chrome os|ubuntu|debian|fedora|arch|centos|redhat|suse|mint|gentoo|mandriva|manjaro|gnu|hurd|solaris|openbsd|freebsd|netbsd|dragonfly|pc-bsd|unix|aix|haiku|beos|os\/2|elementary os|zorin|kubuntu|xubuntu|lubuntu|deepin|raspbian|slackware|sabayon|vectorlinux|pclinuxos|linspire|kali)\b/i;
/** The computers among what runs OpenHarmony, whose phones and tablets UAParser knows. */
const OPENHARMONY_COMPUTER = /\((?:PC|2in1); ?OpenHarmony/i;

/** Never throws, whatever the bytes. `header` is "" when the request has no User-Agent. */
export function agentOf(header: string): Agent {
  const userAgent = cleanText(header, MAX_LENGTH);
  const parsed = UAParser(userAgent);
  const automated = isAutomated(userAgent);
  return {
    userAgent,
    automated,
    device: automated ? "bot" : deviceType(parsed),
    browser: named(parsed.browser),
    os: named(parsed.os),
  };
}

function deviceType({ ua, device: { type }, browser, os }: IResult): DeviceType {
  if (type === "mobile" || type === "tablet") return type;
  if (type !== undefined) return UNKNOWN; // such as a TV
  // Opera Mini is a browser for phones, and often names no more than the system.
  if (browser.name === "Opera Mini") return "mobile";
  // UAParser gives desktops no type, so the operating system decides.
  return DESKTOP_SYSTEMS.test(os.name ?? "") || OPENHARMONY_COMPUTER.test(ua) ? "desktop" : UNKNOWN;
}

function named(part: { name?: string | undefined; version?: string | undefined }): Named | undefined {
  const name = cleanText(part.name ?? "", 64);
  if (name === "") return undefined;
  const version = cleanText(part.version ?? "", 64);
  return version === "" ? { name } : { name, version };
}
