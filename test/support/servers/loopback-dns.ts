// A real name server on loopback whose answers a test decides, query by query.
import dns2, { Packet } from "dns2";
import { onTestFinished } from "vitest";

/** An address, a text, or `alias of` another name of the same zone. */
export type Answer = { a: string } | { aaaa: string } | { cname: string } | { txt: string };
/** `query`: 1 for the first query of that name and type. undefined: the name does not exist; `broken`: SERVFAIL. */
export type Zone = (name: string, query: number) => readonly Answer[] | "broken" | undefined;

export type LoopbackDns = {
  /** `127.0.0.1:port`, as DNS_SERVERS wants it. */
  server: string;
  queries: string[];
  stop(): Promise<void>;
};

const SERVER_FAILURE = 2;
const NAME_ERROR = 3;

/** For one test, which ends it. */
export async function startDns(zone: Zone): Promise<LoopbackDns> {
  const dns = await openDns(zone);
  onTestFinished(() => dns.stop());
  return dns;
}

/** Follows aliases as a recursive name server does: the whole chain is in one answer. */
export async function openDns(zone: Zone): Promise<LoopbackDns> {
  const queries: string[] = [];
  const server = dns2.createUDPServer((request, send) => {
    const response = Packet.createResponseFromRequest(request);
    const [question] = request.questions;
    const name = question?.name.toLowerCase() ?? "";
    const type = question?.type ?? Packet.TYPE.A;
    const label = `${name} ${Object.entries(Packet.TYPE).find(([, number]) => number === type)?.[0]}`;
    queries.push(label);
    const answers = zone(name, queries.filter((query) => query === label).length);
    if (!answers) response.header.rcode = NAME_ERROR;
    else if (answers === "broken") response.header.rcode = SERVER_FAILURE;
    else addTo(response, { zone, type, owner: name, answers });
    send(response);
  });
  await server.listen(0, "127.0.0.1");
  return {
    server: `127.0.0.1:${server.address().port}`,
    queries,
    async stop() {
      server.close();
    },
  };
}

type Part = { zone: Zone; type: number; owner: string; answers: readonly Answer[] };

function addTo(response: dns2.Packet, { zone, type, owner, answers }: Part): void {
  const add = (type: number, value: object) =>
    response.answers.push(Object.assign(new Packet.Resource(owner, type, Packet.CLASS.IN, 0), value));
  for (const answer of answers) {
    if ("cname" in answer) {
      add(Packet.TYPE.CNAME, { domain: answer.cname });
      const aliased = zone(answer.cname, 1);
      if (Array.isArray(aliased)) addTo(response, { zone, type, owner: answer.cname, answers: aliased });
    } else if ("a" in answer && type === Packet.TYPE.A) {
      add(Packet.TYPE.A, { address: answer.a });
    } else if ("aaaa" in answer && type === Packet.TYPE.AAAA) {
      add(Packet.TYPE.AAAA, { address: answer.aaaa });
    } else if ("txt" in answer && type === Packet.TYPE.TXT) {
      add(Packet.TYPE.TXT, { data: answer.txt });
    }
  }
}
