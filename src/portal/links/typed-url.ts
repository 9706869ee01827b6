// What people type as a long address: one without a scheme, such as example.com/page, is taken as https.

/** Schemes that a number can follow, which would look like a host and its port. */
const NOT_A_HOST = /^(data|fax|javascript|mailto|sms|tel)$/i;

/** As it was typed where it names a scheme, or no host that can be told: the use case says what is wrong with it. */
export function typedUrl(typed: string): string {
  if (typed.startsWith("//")) return `https:${typed}`;
  const [authority = ""] = typed.split(/[/?#]/, 1);
  const [, host = "", port] = /^(\[[\da-f:.]+\]|[^\s@:]+)(:\d+)?$/i.exec(authority) ?? [];
  const isHost = host.includes(".") || /^(localhost|\[.+)$/i.test(host) || (port && !NOT_A_HOST.test(host));
  return isHost ? `https://${typed}` : typed;
}
