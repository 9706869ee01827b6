// Connects to receivers after resolving the name and checking every address, and uses only those checked addresses.
import type { LookupAddress } from "node:dns";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { Refused } from "../../commands/refusals.ts";
import type { ResolveReceiver } from "./resolve-receiver.ts";
import { addressRefusal, portRefusal, type Reach } from "./safe-address.ts";

export type SafeAgentsDeps = Reach & {
  resolve: ResolveReceiver;
  /** PEM certificate authorities to trust instead of Node's bundled ones. */
  ca?: string | undefined;
};

/** `destroy` closes their connections, including those in use. */
export type SafeAgents = { http: HttpAgent; https: HttpsAgent; destroy(): void };

/** An unused connection is closed before most receivers close it, which may be at the moment of its reuse. */
const IDLE_MS = 4_000;
/** Longest life of a connection, so that a name is resolved again even if its connection is never idle. */
const CONNECTION_LIFE_MS = 300_000;

/**
 * They keep connections alive and ignore proxy settings of the environment. As many connections as deliveries in flight,
 * which the worker limits, because waiting for one would count against their 15 seconds.
 */
export function safeAgents(deps: SafeAgentsDeps): SafeAgents {
  const options = { keepAlive: true, timeout: IDLE_MS, lookup: checkedLookup(deps) };
  const http = checked(new HttpAgent(options), deps);
  const https = checked(new HttpsAgent({ ...options, ca: deps.ca }), deps);
  return {
    http,
    https,
    destroy() {
      http.destroy();
      https.destroy();
    },
  };
}

function checked<A extends HttpAgent>(agent: A, reach: Reach): A {
  const connect = agent.createConnection.bind(agent);
  const keep = agent.keepSocketAlive.bind(agent);
  const connectedAt = new WeakMap<object, number>();
  agent.createConnection = (options, callback) => {
    const refusal = refusalOf(options, reach);
    if (refusal) {
      callback?.(refusal, undefined as never);
      return undefined;
    }
    const socket = connect(options, callback);
    if (socket) connectedAt.set(socket, performance.now());
    return socket;
  };
  agent.keepSocketAlive = (socket: Socket) =>
    performance.now() - (connectedAt.get(socket) ?? 0) < CONNECTION_LIFE_MS && keep(socket);
  return agent;
}

/** IP literals are connected to without a lookup, so they are checked here. */
function refusalOf(
  { host, port }: { host?: string | null | undefined; port?: string | number | null | undefined },
  reach: Reach,
): Refused | undefined {
  const portProblem = portRefusal(String(port ?? ""));
  if (portProblem) return new Refused("port_refused", portProblem);
  const address = (host ?? "").replace(/^\[|\]$/g, "");
  const why = isIP(address) === 0 ? undefined : addressRefusal(address, reach);
  return why === undefined ? undefined : new Refused("address_refused", `${address} is ${why}`);
}

/** The socket connects to exactly the addresses returned here, which prevents DNS rebinding. */
function checkedLookup(deps: SafeAgentsDeps): LookupFunction {
  return (name, options, callback) => {
    checkedAddresses(deps, name).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}

/** One refused address among allowed ones refuses the whole answer: it is a misconfiguration or an attack. */
async function checkedAddresses(
  deps: SafeAgentsDeps,
  name: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const [first, ...others] = await deps.resolve(name);
  if (!first) throw new Refused("dns_failed", `${name} has no address`);
  for (const { address } of [first, ...others]) {
    const why = addressRefusal(address, deps);
    if (why) throw new Refused("address_refused", `${name} leads to ${address}, which is ${why}`);
  }
  return [first, ...others];
}
