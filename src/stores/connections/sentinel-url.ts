// Reads the addresses of REDIS_URL: ioredis parses redis:// and rediss:// only, and takes sockets and sentinels as
// options.

/** Names as in the options of ioredis. */
type Login = { username?: string; password: string };
type Socket = Partial<Login> & { path: string; db: number };
type Sentinels = Partial<Login> & {
  sentinels: { host: string; port: number }[];
  /** Of the primary, as the sentinels know it. */
  name: string;
  db: number;
  sentinelUsername?: string;
  sentinelPassword?: string;
  tls?: Record<string, never>;
  sentinelTLS?: Record<string, never>;
  enableTLSForSentinelMode?: true;
};
type RedisAddress = string | Socket | Sentinels;

const USER = /(?:([^@/]*):([^@/]*)@)?/;
const DATABASE = /\d{1,5}/;
const SOCKET = new RegExp(`^unix://${USER.source}(/[^?#]+)(?:\\?db=(${DATABASE.source}))?$`);
const SENTINELS = new RegExp(
  `^redis(s?)\\+sentinel://${USER.source}([^@/?#]+)/([^/?#]+)(?:/(${DATABASE.source}))?(?:\\?([^#]*))?$`,
);
const SENTINEL = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i;
const SENTINEL_PORT = 26_379;

/**
 * `unix://[user:password@]/path[?db=1]`, as redis-py and node-redis have it, and
 * `redis+sentinel://[user:password@]host[:26379],.../primary[/db][?sentinel_username=...&sentinel_password=...]`,
 * as most clients that read sentinels from an address (LangChain, RedisVL, redis-sentinel-url); the user is that
 * of Redis, and `rediss` uses TLS to Redis and sentinels. Undefined for what is none of these.
 */
export function redisAddress(url: string): RedisAddress | undefined {
  if (/^rediss?:\/\/./.test(url)) return URL.canParse(url) ? url : undefined;
  try {
    return socketOf(url) ?? sentinelsOf(url);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** @throws URIError for malformed percent-encoding */
function socketOf(url: string): Socket | undefined {
  const match = SOCKET.exec(url);
  if (!match) return undefined;
  const [, user, password, path = "", db = "0"] = match;
  return { ...loginOf(user, password), path: decodeURIComponent(path), db: Number(db) };
}

/** @throws URIError for malformed percent-encoding */
function sentinelsOf(url: string): Sentinels | undefined {
  const match = SENTINELS.exec(url);
  if (!match) return undefined;
  const [, tls, user, password, hosts = "", name = "", db = "0", query] = match;
  const sentinels = hosts.split(",").map(sentinelOf);
  const { sentinel_username, sentinel_password, ...unknown } = Object.fromEntries(new URLSearchParams(query));
  if (sentinels.includes(undefined) || Object.keys(unknown).length > 0) return undefined;
  return {
    ...loginOf(user, password),
    sentinels: sentinels.filter((sentinel) => sentinel !== undefined),
    name: decodeURIComponent(name),
    db: Number(db),
    ...(sentinel_username && { sentinelUsername: sentinel_username }),
    ...(sentinel_password && { sentinelPassword: sentinel_password }),
    ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true as const }),
  };
}

function sentinelOf(text: string): { host: string; port: number } | undefined {
  const [, v6, name, digits] = SENTINEL.exec(text) ?? [];
  const port = digits === undefined ? SENTINEL_PORT : Number(digits);
  const host = v6 ?? name;
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

function loginOf(user: string | undefined, password: string | undefined): Partial<Login> {
  if (password === undefined) return {};
  return { ...(user && { username: decodeURIComponent(user) }), password: decodeURIComponent(password) };
}
