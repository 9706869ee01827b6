// Loads the one client library that the scheme of the connection string chooses.
import { messageOf } from "../../runtime/errors.ts";
import type { Driver } from "./driver.ts";

/**
 * By dynamic import, as a process must never load both: they register the same messages in google-protobuf's global
 * tree, and appends of the one that came first fail from then on.
 * @throws Error when the connection string can't be read, or when its client is not installed
 */
export async function openDriver(connectionString: string): Promise<Driver> {
  if (!connectionString.startsWith("kurrentdb")) {
    const { connectEventStoreDb } = await import("./esdb-driver.ts");
    return connectEventStoreDb(connectionString);
  }
  const { connectKurrentDb } = await import("./kurrentdb-driver.ts").catch((error: unknown) => {
    throw notInstalled(error);
  });
  return connectKurrentDb(connectionString);
}

/** The client loads a native library, which npm installs for some platforms only. */
function notInstalled(cause: unknown): Error {
  const platform = `${process.platform}-${process.arch}`;
  const [reason] = messageOf(cause).split("\n");
  return new Error(
    `kurrentdb:// needs the native library of @kurrent/kurrentdb-client, which can't be loaded on ${platform} (${reason}); esdb:// works without it`,
    { cause },
  );
}
