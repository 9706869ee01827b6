// Connects to receivers after resolving the name and checking every address, and uses only those checked addresses.
import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector, type Dispatcher } from "undici";
import { Refused } from "../../runtime/refused.ts";
import type { ResolveReceiver } from "./resolve-receiver.ts";
import { addressRefusal, portRefusal, type Reach } from "./safe-address.ts";

export type SafeAgentDeps = Reach & {
  resolve: ResolveReceiver;
  /** PEM certificate authorities to trust instead of Node's bundled ones. */
  ca?: string | undefined;
};

const CONNECT_TIMEOUT_MS = 10_000;
/** Longest life of a connection, so that a name is resolved again even if its connection is never idle. */
const CONNECTION_LIFE_MS = 300_000;

/**
 * Keeps connections alive, ignores proxy settings of the environment and does not follow redirects. TLS server name
 * and Host header are the URL's. As many connections as deliveries in flight, which the worker limits, because waiting
 * for one would count against their 15 seconds. Destroy it to close its connections.
 */
export function safeAgent(deps: SafeAgentDeps): Dispatcher {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup: checkedLookup(deps),
    autoSelectFamily: true,
    ...(deps.ca === undefined ? {} : { ca: deps.ca }),
  });
  return new Agent({
    pipelining: 1,
    clientTtl: CONNECTION_LIFE_MS,
    allowH2: false,
    connect: (options, callback) => {
      const refusal = refusalOf(options, deps);
      if (refusal) callback(refusal, null);
      else connect(options, callback);
    },
  });
}

/** IP literals are connected to without a lookup, so they are checked here. */
function refusalOf(options: buildConnector.Options, reach: Reach): Refused | undefined {
  const port = portRefusal(options.port);
  if (port) return new Refused("port_refused", port);
  const host = options.hostname.replace(/^\[|\]$/g, "");
  const why = isIP(host) === 0 ? undefined : addressRefusal(host, reach);
  return why === undefined ? undefined : new Refused("address_refused", `${host} is ${why}`);
}

/** The socket connects to exactly the addresses returned here, which prevents DNS rebinding. */
function checkedLookup(deps: SafeAgentDeps): LookupFunction {
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
  deps: SafeAgentDeps,
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
