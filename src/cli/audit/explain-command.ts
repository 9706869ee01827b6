// linkledger explain: everything about one link, with what proves it.
import { sealKeysFrom } from "../../audit/seals/seal-keys.ts";
import { type ExplainedStep, explainLink, type LinkExplanation } from "../../queries/audit/explain-link.ts";
import { type CommandRow, option } from "../command.ts";
import { LINK, linkNamed } from "../named.ts";
import { text, withVerdict } from "../output.ts";
import { runReading, type Session } from "../session.ts";

export const explainCommand: CommandRow = {
  name: "explain <link>",
  about: "one link: who made it, what was changed by whom, its hits, and what proves that",
  args: { link: LINK },
  options: [option("--verify", "compare its seals with the log, and count its hits in the log; reads much")],
  by: runReading,
  run: explained,
  print: forPeople,
  exitCode: ({ verdict }: LinkExplanation) => (verdict === "problem" ? 1 : 0),
};

async function explained(session: Session, { verify = false }: { verify?: boolean }, given: string) {
  const sealKeys = sealKeysFrom(session.config).map(({ publicKey }) => publicKey);
  return await explainLink({ ...session.deps, sealKeys }, linkNamed(session, given), { verify });
}

function forPeople({ history, owner, ...found }: LinkExplanation) {
  const { link, short_url, destination, state, created_at, created_by, ...rest } = found;
  const of = { link, short_url, destination, state, owner: owner.email ?? owner.account_id };
  return withVerdict({ ...of, created_at, created_by, history: history.map(stepText), ...rest });
}

/** Such as `2026-03-01 10:00:00 UTC  LinkRetargeted by the owner, in the portal (position 17): from ..., to ...`. */
function stepText({ recorded_at, type, by, position, detail, error }: ExplainedStep): string {
  const what = error === null ? text(detail) : `can't be read: ${error}`;
  return `${text(recorded_at)}  ${type || "unreadable"} by ${by} (position ${position})${what && `: ${what}`}`;
}
