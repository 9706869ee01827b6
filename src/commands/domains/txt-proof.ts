// Looks up the TXT record that proves a hostname's ownership and explains a failure to the owner.
import { txtRecord } from "./add-domain.ts";

/** TXT records of a name, each as its chunks; rejects when there are none or DNS is unreachable. */
export type ResolveTxt = (name: string) => Promise<string[][]>;

/** `values`: all TXT values under the name. `reason`: a sentence for the owner. */
export type TxtProof =
  | { is: "proven"; values: string[] }
  | { is: "missing" | "unreachable"; values: string[]; reason: string };

const NO_RECORD = new Set(["ENOTFOUND", "ENODATA"]);

/** Never rejects: a DNS failure is `unreachable`. */
export async function lookForProof(
  resolveTxt: ResolveTxt,
  hostname: string,
  token: string,
): Promise<TxtProof> {
  const { name } = txtRecord(hostname, token);
  let values: string[];
  try {
    values = (await resolveTxt(name)).map((chunks) => chunks.join("").trim());
  } catch (cause) {
    const code = String((cause as { code?: unknown }).code ?? "unknown error");
    if (NO_RECORD.has(code))
      return { is: "missing", values: [], reason: `DNS has no TXT record ${name} (${code})` };
    const reason = `The name servers could not be asked for ${name} (${code}); please try again later`;
    return { is: "unreachable", values: [], reason };
  }
  if (values.includes(token)) return { is: "proven", values };
  const shown = values.slice(0, 3).map((value) => `“${value.slice(0, 80)}”`);
  return { is: "missing", values, reason: `The TXT record ${name} shows ${shown.join(", ")} instead` };
}
