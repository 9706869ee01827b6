// linkledger audit verify | seal | key | export: the seals of the log, on the server and offline.
import { createReadStream, existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { Option } from "commander";
import { exportLog } from "../../audit/export/export-log.ts";
import { verifyExport } from "../../audit/export/verify-export.ts";
import { newestSeal } from "../../audit/seals/newest-seal.ts";
import { sealKeysFrom, trustOf } from "../../audit/seals/seal-keys.ts";
import { Sealer } from "../../audit/seals/sealer.ts";
import { EXIT_CODES } from "../../audit/verdict.ts";
import { type KnownPast, parseKnownPast, verifySealedLog } from "../../audit/verify-sealed-log.ts";
import { Refused } from "../../runtime/refused.ts";
import { storesOf } from "../../service/stores/backend.ts";
import { refuseForeignPosition } from "../../stores/event-store/foreign-position.ts";
import { type CommandRow, option } from "../command.ts";
import { withVerdict } from "../output.ts";
import { runReading, runWithoutCatchUp, runWithoutStores, type Session } from "../session.ts";

type VerifyOptions = { anchor?: string; resumeFrom?: string; file?: string; key?: string[] };
type ExportOptions = { from?: string; to?: string; stream?: string };

export const auditSealCommands: readonly CommandRow[] = [
  {
    name: "verify",
    about: "check every event: seals, order, schemas, times, and the rules of its stream",
    remark: "Exit code: 0 proved, 1 a problem was found, 3 no seal covers anything yet.",
    options: [
      option("--anchor <anchor>", "of an earlier verification: was anything up to there changed?"),
      new Option(
        "--resume-from <anchor>",
        "`seal_anchor` of an earlier verification: skip the events up to there, and say so",
      ).conflicts(["anchor"]),
      new Option("--file <file>", "check an exported file instead, offline; needs --key").conflicts([
        "anchor",
        "resumeFrom",
      ]),
      option(
        "--key <key...>",
        "trust only seals by these: public keys that `audit key` printed, or files of them",
      ),
    ],
    by: (call, ...more) => (call.options.file === undefined ? runReading : runWithoutStores)(call, ...more),
    run: (session, options: VerifyOptions) =>
      options.file === undefined ? verify(session, options) : verifyFile(session, options.file, options),
    print: withVerdict,
    exitCode: ({ verdict }: { verdict: keyof typeof EXIT_CODES }) => EXIT_CODES[verdict],
  },
  {
    name: "seal",
    about:
      "seal what is not sealed yet, as the service does after a quiet minute, or go on under a changed SECRET_KEY",
    options: [
      option("--anyway", "also behind a seal that can't be trusted, or after an older log was restored"),
    ],
    by: runWithoutCatchUp,
    run: (session, { anyway = false }: { anyway?: boolean }) => sealNow(session, anyway),
  },
  {
    name: "key",
    about: "the public key of the seals, to be kept outside of the service",
    by: runReading,
    async run({ config }) {
      const [{ publicKey }] = sealKeysFrom(config);
      return { public_key: publicKey };
    },
  },
  {
    name: "export",
    about: "the log, or a part of it, as lines of JSON with the seals that cover it",
    options: [
      option("--from <position>", "the first position"),
      option("--to <position>", "the last position"),
      option("--stream <name>", "events of this stream only"),
    ],
    json: false,
    by: runReading,
    async run({ backend, work }, options: ExportOptions) {
      for (const position of [options.from, options.to])
        if (position !== undefined) await refuseForeignPosition(backend, position);
      const lines = async function* () {
        for await (const line of exportLog(backend, options)) yield `${JSON.stringify(line)}\n`;
      };
      return await work.printing(lines());
    },
  },
];

async function verify(session: Session, { anchor, resumeFrom, key }: VerifyOptions) {
  const { config, deps, backend, work } = session;
  const known = anchor === undefined ? undefined : pastOf(anchor);
  const kept = resumeFrom === undefined ? undefined : pastOf(resumeFrom);
  if (kept && !("seal" in kept))
    throw new Refused(
      "bad_anchor",
      "--resume-from takes the anchor of a seal, such as seal:19: and 64 hex digits",
    );
  const keys = sealKeysFrom(config);
  const trust = key ? { publicKeys: await givenKeys(key), keyOrigin: "of --key" } : trustOf(config, keys);
  const log = await storesOf(config, { offThread: false, readOnly: true }).openVerifiableLog();
  const given = { ...log, eventStore: work.watched(log.eventStore), clock: deps.clock, keys };
  const found = await work
    .interruptible(
      () => `${work.shareText} of the log was read, and nothing is said of it: a verification begins anew`,
      () =>
        verifySealedLog(
          { ...given, newest: newestSeal(backend.foldStore) },
          { trust, known, resumeFrom: kept?.seal },
        ),
    )
    .finally(() => log.close());
  const { ok, verdict, sentence, events, streams, types, problemCount, problems, seals, skipped } = found;
  return {
    ...{ ok, events, streams, types, problem_count: problemCount, problems, seals, skipped },
    ...{ anchor: found.anchor, seal_anchor: found.sealAnchor, verdict, sentence },
  };
}

/** @throws bad_anchor */
function pastOf(anchor: string): KnownPast {
  const known = parseKnownPast(anchor);
  if (known) return known;
  throw new Refused(
    "bad_anchor",
    "An anchor is what an earlier verification printed, such as a number, a colon and 64 hex digits",
  );
}

/** Each is a key, or the name of a file that holds one. @throws bad_key */
async function givenKeys(given: readonly string[]): Promise<string[]> {
  return await Promise.all(
    given.map(async (text) => {
      const key = existsSync(text) ? (await readFile(text, "utf8")).trim() : text;
      if (/^[\w-]{43}$/.test(key)) return key;
      throw new Refused("bad_key", `${text} is no public key and no file of one: \`audit key\` prints it`);
    }),
  );
}

/** Needs neither stores nor settings. */
async function verifyFile({ work }: Session, file: string, { key }: VerifyOptions) {
  if (!key) throw new Refused("key_missing", "--file needs --key: the public key that `audit key` printed");
  const keys = await givenKeys(key);
  // An error here, as the stream's own would come too late.
  const { size } = await stat(file);
  const lines = async function* () {
    const source = createReadStream(file);
    let count = 0;
    for await (const line of createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY })) {
      work.signal.throwIfAborted();
      work.show({ count: ++count, unit: "record", share: source.bytesRead / size });
      yield line;
    }
  };
  const found = await work.interruptible(
    () => `${work.shareText} of the file was read, and nothing is said of it: a verification begins anew`,
    () => verifyExport(lines(), keys),
  );
  const { ok, seals, events, unsealed, selection, problems, verdict, sentence } = found;
  const shown = Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined));
  const counts = { seals, events, unsealed, selection: shown, problem_count: problems.length };
  return { ok, ...counts, problems, verdict, sentence };
}

async function sealNow({ backend, deps, config }: Session, anyway: boolean) {
  const { eventStore, foldStore } = backend;
  const given = { ...deps, eventStore, keys: sealKeysFrom(config), newest: newestSeal(foldStore) };
  const sealer = await Sealer.open(given, { anyway });
  while (await sealer.read());
  if (sealer.unsealed > 0 || sealer.hasKeyChanged) await sealer.seal();
  const { number = -1, total: events = 0, position = null } = sealer.last ?? {};
  return { seals: number + 1, events, position };
}
