// Connections to receivers: the name is resolved by us, every address checked, and exactly a checked one connected to.
import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector, type Dispatcher } from "undici";
import { RequestRefused } from "./request-refused.ts";
import type { ResolveReceiver } from "./resolve-receiver.ts";
import { addressRefusal, portRefusal, type Reach } from "./safe-address.ts";

export type SafeAgentDeps = Reach & {
  resolve: ResolveReceiver;
  /** Certificate authorities to trust instead of the ones that come with Node; PEM. */
  ca?: string | undefined;
  /** Not below the deliveries that run at once, or waiting in line would use up their 15 seconds. */
  connectionsPerOrigin?: number | undefined;
};

const CONNECT_TIMEOUT_MS = 10_000;
/** A name is looked up again after this long, also when its connection never rested. */
const CONNECTION_LIFE_MS = 300_000;

/**
 * Keeps connections alive; never uses a proxy, whatever the environment says, and never follows a redirect. The TLS
 * server name and the Host header stay the URL's. Close it to end its connections.
 */
export function safeAgent(deps: SafeAgentDeps): Dispatcher {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup: checkedLookup(deps),
    autoSelectFamily: true,
    ...(deps.ca === undefined ? {} : { ca: deps.ca }),
  });
  return new Agent({
    connections: deps.connectionsPerOrigin ?? 512,
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

/** Literal addresses are never looked up, so they are checked here. */
function refusalOf(options: buildConnector.Options, reach: Reach): RequestRefused | undefined {
  const port = portRefusal(options.port);
  if (port) return new RequestRefused("port_refused", port);
  const host = options.hostname.replace(/^\[|\]$/g, "");
  const why = isIP(host) === 0 ? undefined : addressRefusal(host, reach);
  return why === undefined ? undefined : new RequestRefused("address_refused", `${host} is ${why}`);
}

/** The answers that this gives are the addresses that are connected to: there is no second look-up to lie to. */
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

/** One refused address among good ones refuses all: such an answer is a mistake or an attack. */
async function checkedAddresses(
  deps: SafeAgentDeps,
  name: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const [first, ...others] = await deps.resolve(name);
  if (!first) throw new RequestRefused("dns_failed", `${name} has no address`);
  for (const { address } of [first, ...others]) {
    const why = addressRefusal(address, deps);
    if (why) throw new RequestRefused("address_refused", `${name} leads to ${address}, which is ${why}`);
  }
  return [first, ...others];
}
