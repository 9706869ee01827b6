// Who calls the double, by the credentials that the client sends where it speaks TLS.
import type { Metadata } from "@grpc/grpc-js";

/** Empty where none were sent. */
export function loginOf(metadata: Metadata): { user: string; password: string } {
  const [, encoded = ""] = String(metadata.get("authorization")[0] ?? "").split(" ");
  const [user = "", ...rest] = Buffer.from(encoded, "base64").toString().split(":");
  return { user, password: rest.join(":") };
}
