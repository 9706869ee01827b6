// linkledger audit verify | seal | anchor | key | export: the seals of the log, on the server and offline.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline/promises";
import { InvalidArgumentError, Option } from "commander";
import { exportLog } from "../../audit/export/export-log.ts";
import { verifyExport } from "../../audit/export/verify-export.ts";
import { readSeal, SealJudge, sealFacts } from "../../audit/seals/judge-seals.ts";
import { notedSeal } from "../../audit/seals/noted-seal.ts";
import { anchorText, type KnownSeal, parseAnchor } from "../../audit/seals/seal.ts";
import { sealKeysFrom, trustOf } from "../../audit/seals/seal-keys.ts";
import { knownSeal, sealAll } from "../../audit/seals/sealer.ts";
import { EXIT_CODES } from "../../audit/verdict.ts";
import { verifyLog } from "../../audit/verify-log.ts";
import { SEALS_STREAM, streamNamed } from "../../events/streams.ts";
import { refuseForeignPosition } from "../../queries/cursor.ts";
import { Failure } from "../../runtime/errors.ts";
import { storesOf } from "../../service/stores/backend.ts";
import { type CommandRow, option } from "../command.ts";
import { withVerdict } from "../output.ts";
import { inService, onStoredData, type Session, withoutStores } from "../session.ts";

/** Ed25519, in base64url. */
const KEY = /^[\w-]{43}$/;

type VerifyOptions = { anchor?: KnownSeal; file?: string; key?: string[] };
type ExportOptions = { from?: string; to?: string; stream?: string };

export const auditSealCommands: readonly CommandRow[] = [
  {
    name: "verify",
    about: "check every event: seals, order, schemas, times, and the rules of its stream",
    remark: "Exit code: 0 proved, 1 a problem was found, 3 no seal covers anything yet.",
    options: [
      option("--anchor <anchor>", "of an earlier verification: is its seal still there?", anchorFrom),
      new Option("--file <file>", "check an exported file instead, offline; needs --key").conflicts("anchor"),
      option(
        "--key <key...>",
        "trust only seals by these: public keys that `audit key` printed, or files of them",
      ),
    ],
    by: (call, run) => (call.options.file === undefined ? onStoredData : withoutStores)(call, run),
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
    by: inService,
    run: (session, { anyway = false }: { anyway?: boolean }) => sealNow(session, anyway),
  },
  {
    name: "anchor",
    about: "what binds the newest seal and all before it, to be kept outside of the service",
    by: inService,
    run: newestAnchor,
  },
  {
    name: "key",
    about: "the public key of the seals, to be kept outside of the service",
    by: inService,
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
      option("--stream <name>", "events of this stream only").argParser(streamNamed),
    ],
    json: false,
    by: inService,
    async run({ backend, work }, options: ExportOptions) {
      for (const position of [options.from, options.to])
        if (position !== undefined) await refuseForeignPosition(backend, position);
      const lines = async function* () {
        for await (const line of exportLog(backend, options)) yield `${line}\n`;
      };
      return await work.printing(lines());
    },
  },
];

async function verify(session: Session, { anchor, key }: VerifyOptions) {
  const { config, backend, work } = session;
  const trust = key
    ? { publicKeys: await publicKeys(session, key), keyOrigin: "of --key" }
    : trustOf(config, sealKeysFrom(config));
  const noted = await notedSeal(backend.foldStore).get();
  const log = await storesOf(config, { readOnly: true }).openVerifiableLog();
  const verified = await work
    .interruptible(
      () => `${work.shareText} of the log was read, and nothing is said of it: a verification begins anew`,
      () => verifyLog({ eventStore: work.watched(log) }, { trust, noted, anchor }),
    )
    .finally(() => log.close());
  const { ok, verdict, sentence, events, streams, types, problemCount, problems, seals } = verified;
  return {
    ok,
    events,
    streams,
    types,
    problem_count: problemCount,
    problems,
    seals,
    anchor: verified.anchor,
    verdict,
    sentence,
  };
}

/** @throws Failure */
async function newestAnchor({ backend, config }: Session) {
  const [event] = await backend.eventStore.read(SEALS_STREAM, { backwards: true, limit: 1 });
  if (!event) throw new Failure("There is no seal yet: `audit seal` makes one");
  const judge = new SealJudge(sealKeysFrom(config).map(({ publicKey }) => publicKey));
  const { seal, reason } = judge.next(sealFacts(event, readSeal(event)));
  if (!seal || reason !== undefined) throw new Failure(`seal ${event.revision} ${reason}`);
  return { anchor: anchorText(seal), position: seal.position };
}

function anchorFrom(text: string): KnownSeal {
  const anchor = parseAnchor(text);
  if (anchor) return anchor;
  throw new InvalidArgumentError(
    "An anchor is what `audit anchor` printed, such as seal:19: and 64 hex digits.",
  );
}

/** Each is a key, or the name of a file that holds one. @throws Failure */
async function publicKeys({ files }: Pick<Session, "files">, texts: readonly string[]): Promise<string[]> {
  return await Promise.all(
    texts.map(async (text) => {
      if (KEY.test(text)) return text;
      const read = Array.fromAsync(files.source(text).read()).then((parts) =>
        Buffer.concat(parts).toString().trim(),
      );
      const key = await read.catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return "";
        throw error;
      });
      if (KEY.test(key)) return key;
      throw new Failure(`${text} is no public key and no file of one: \`audit key\` prints it`);
    }),
  );
}

/** Needs neither stores nor settings. */
async function verifyFile({ work, files }: Session, file: string, { key }: VerifyOptions) {
  if (!key) throw new Failure("--file needs --key: the public key that `audit key` printed");
  const keys = await publicKeys({ files }, key);
  // An error here, as the stream's own would come too late.
  const size = await files.source(file).size();
  const lines = async function* () {
    const source = createReadStream(file);
    let count = 0;
    for await (const line of createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY })) {
      work.signal.throwIfAborted();
      work.show({ count: ++count, unit: "record", share: source.bytesRead / size });
      yield line;
    }
  };
  const verified = await work.interruptible(
    () => `${work.shareText} of the file was read, and nothing is said of it: a verification begins anew`,
    () => verifyExport(lines(), keys),
  );
  const { ok, seals, events, unsealed, selection, problems, verdict, sentence } = verified;
  const shown = Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined));
  const counts = { seals, events, unsealed, selection: shown, problem_count: problems.length };
  return { ok, ...counts, problems, verdict, sentence };
}

async function sealNow({ backend, deps, config }: Session, anyway: boolean) {
  const { eventStore, foldStore } = backend;
  const sealing = { ...deps, eventStore, keys: sealKeysFrom(config), noted: notedSeal(foldStore) };
  const last = await sealAll(sealing, { anyway });
  const { number = -1, position = null } = last ?? {};
  return { seals: number + 1, position, anchor: last ? anchorText(knownSeal(last)) : null };
}
