// The operator's list of unsafe hosts, reloaded when the file changes.
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { domainToASCII } from "node:url";

type Log = { warn: (details: object, message: string) => void };

/** Matches listed hosts and their subdomains. While the file can't be read, the last list stays in use. */
export function unsafeHosts(file: string, log: Log): (hostname: string) => Promise<boolean> {
  let hosts: ReadonlySet<string> = new Set();
  let version: string | undefined;
  const refresh = async () => {
    try {
      const { mtimeMs, size, ino } = await stat(file);
      const current = `${mtimeMs}/${size}/${ino}`;
      if (current === version) return;
      hosts = parseHosts(await readFile(file, "utf8"));
      version = current;
    } catch (error) {
      if (version !== "unreadable") log.warn({ err: error, file }, "the list of unsafe hosts can't be read");
      version = "unreadable";
    }
  };
  return async (hostname) => {
    await refresh();
    return isListed(hosts, hostname);
  };
}

/** Accepts hosts-file lines (`0.0.0.0 a.example b.example`), lists of hosts and `*.a.example`; `#` starts a comment. */
function parseHosts(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const words = line.replace(/#.*/, "").trim().split(/\s+/).filter(Boolean);
    const names = words.length > 1 && isIP(words[0] ?? "") ? words.slice(1) : words;
    for (const name of names) {
      const host = isIP(name) === 6 ? `[${name}]` : domainToASCII(name.replace(/^\*\.|\.$/g, ""));
      // Names without a dot are the machine's own entries of a hosts file, such as localhost and broadcasthost.
      if (host.includes(".") || host.startsWith("[")) hosts.add(host.toLowerCase());
    }
  }
  for (const own of ["localhost.localdomain", "0.0.0.0", "[::1]", "127.0.0.1"]) hosts.delete(own);
  return hosts;
}

function isListed(hosts: ReadonlySet<string>, hostname: string): boolean {
  const labels = hostname.toLowerCase().replace(/\.$/, "").split(".");
  return labels.some((_, index) => hosts.has(labels.slice(index).join(".")));
}
