// Parses a user agent into the browser, operating system and device type that analytics count by.
import { UAParser } from "ua-parser-js";
import { type DeviceType, UNKNOWN } from "../events/vocabulary.ts";
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

/** Never throws, whatever the bytes. `header` is "" when the request has no User-Agent. */
export function agentOf(header: string): Agent {
  const userAgent = cleanText(header, MAX_LENGTH);
  const { browser, os, device } = UAParser(userAgent);
  const automated = isAutomated(userAgent);
  return {
    userAgent,
    automated,
    device: automated ? "bot" : deviceType(device.type, os.name),
    browser: named(browser),
    os: named(os),
  };
}

function deviceType(type: string | undefined, os: string | undefined): DeviceType {
  if (type === "mobile" || type === "tablet") return type;
  // UAParser gives desktops no type, so the operating system decides; other typed devices, such as TVs, are unknown.
  return type === undefined && os !== undefined && DESKTOP_SYSTEMS.test(os) ? "desktop" : UNKNOWN;
}

function named(part: { name?: string | undefined; version?: string | undefined }): Named | undefined {
  const name = cleanText(part.name ?? "", 64);
  if (name === "") return undefined;
  const version = cleanText(part.version ?? "", 64);
  return version === "" ? { name } : { name, version };
}
