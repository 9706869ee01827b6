// The operating systems that a rule can name: families with the names by which clicks are counted, and what people call them.
import { UNKNOWN } from "../vocabulary.ts";

/** By the family's name, the names that UAParser has for its members, in lower case without spaces. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  iOS: ["ios"],
  Android: ["android", "android-x86", "harmonyos"],
  HarmonyOS: ["harmonyos", "openharmony"],
  Windows: ["windows"],
  "Windows Phone": ["windowsphone", "windowsphoneos", "windowsmobile"],
  macOS: ["macos"],
  "Chrome OS": ["chromiumos", "chromeos"],
  Linux: (
    "linux ubuntu kubuntu xubuntu lubuntu debian fedora arch centos redhat suse opensuse mint gentoo " +
    "mandriva mageia manjaro elementaryos zorin deepin raspbian slackware sabayon vectorlinux pclinuxos linspire linpus zenwalk kali gnu"
  ).split(" "),
  KaiOS: ["kaios"],
  Tizen: ["tizen"],
  webOS: ["webos"],
  watchOS: ["watchos"],
  FreeBSD: ["freebsd"],
  OpenBSD: ["openbsd"],
};

const ALIASES: Readonly<Record<string, string>> = {
  ipados: "iOS",
  iphoneos: "iOS",
  osx: "macOS",
  macosx: "macOS",
  mac: "macOS",
  win: "Windows",
  cros: "Chrome OS",
};

const flat = (name: string) => name.toLowerCase().replace(/\s+/g, "");
const FAMILY_OF = new Map(Object.keys(FAMILIES).map((family) => [flat(family), family]));
/** Also of a member alone, such as Ubuntu. */
const MEMBERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...Object.values(FAMILIES)
    .flat()
    .map((member) => [member, new Set([member])] as const),
  ...Object.entries(FAMILIES).map(([family, members]) => [flat(family), new Set(members)] as const),
  [UNKNOWN, new Set([UNKNOWN])],
]);

export const SYSTEM_NAMES = Object.keys(FAMILIES);

/** The name that a rule keeps; undefined for one that no visit can have. */
export function acceptedSystem(written: string): string | undefined {
  const name = flat(written);
  const family = FAMILY_OF.get(name) ?? ALIASES[name];
  return family ?? (MEMBERS.has(name) ? written.trim() : undefined);
}

/** The names of the visits that a rule's system fits, as `systemOf` writes them. */
export function systemsNamed(accepted: string): ReadonlySet<string> {
  return MEMBERS.get(flat(accepted)) ?? new Set([flat(accepted)]);
}

/** Of a visit: the name of its operating system, in any spelling. */
export function systemOf(name: string | undefined): string {
  return flat(name ?? UNKNOWN);
}
