// A real name server on loopback whose answers a test decides, query by query.
import dns2, { Packet } from "dns2";
import { onTestFinished } from "vitest";

/** An address, or `alias of` another name of the same zone. */
export type Answer = { a: string } | { aaaa: string } | { cname: string };
/** `query`: 1 for the first query of that name and type. undefined: the name does not exist. */
export type Zone = (name: string, query: number) => readonly Answer[] | undefined;

export type LoopbackDns = {
  /** `127.0.0.1:port`, as DNS_SERVERS wants it. */
  server: string;
  queries: string[];
};

const NAME_ERROR = 3;

/** Follows aliases as a recursive name server does: the whole chain is in one answer. */
export async function startDns(zone: Zone): Promise<LoopbackDns> {
  const queries: string[] = [];
  const server = dns2.createUDPServer((request, send) => {
    const response = Packet.createResponseFromRequest(request);
    const [question] = request.questions;
    const name = question?.name.toLowerCase() ?? "";
    const wantsV6 = question?.type === Packet.TYPE.AAAA;
    const label = `${name} ${wantsV6 ? "AAAA" : "A"}`;
    queries.push(label);
    const answers = zone(name, queries.filter((query) => query === label).length);
    if (!answers) response.header.rcode = NAME_ERROR;
    else addTo(response, { zone, wantsV6, owner: name, answers });
    send(response);
  });
  await server.listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
  });
  return { server: `127.0.0.1:${server.address().port}`, queries };
}

type Part = { zone: Zone; wantsV6: boolean; owner: string; answers: readonly Answer[] };

function addTo(response: dns2.Packet, { zone, wantsV6, owner, answers }: Part): void {
  const add = (type: number, value: object) =>
    response.answers.push(Object.assign(new Packet.Resource(owner, type, Packet.CLASS.IN, 0), value));
  for (const answer of answers) {
    if ("cname" in answer) {
      add(Packet.TYPE.CNAME, { domain: answer.cname });
      addTo(response, { zone, wantsV6, owner: answer.cname, answers: zone(answer.cname, 1) ?? [] });
    } else if ("a" in answer && !wantsV6) {
      add(Packet.TYPE.A, { address: answer.a });
    } else if ("aaaa" in answer && wantsV6) {
      add(Packet.TYPE.AAAA, { address: answer.aaaa });
    }
  }
}
