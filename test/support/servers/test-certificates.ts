// Certificates for tests, made on the spot: Node signs but doesn't write X.509, so the few DER structures are here.
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export type Authority = { name: string; key: KeyObject; cert: string };
export type ServerCertificate = { key: string; cert: string };

const OID = {
  commonName: "550403",
  ecdsaWithSha256: "2a8648ce3d040302",
  subjectAltName: "551d11",
  basicConstraints: "551d13",
};
const DAY_MS = 86_400_000;

export function makeAuthority(name = "Test authority"): Authority {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const isAuthority = extension(OID.basicConstraints, sequence(der(0x01, Buffer.from([0xff]))));
  const cert = certificate({
    subject: name,
    issuer: name,
    spki,
    extensions: [isAuthority],
    signer: privateKey,
  });
  return { name, key: privateKey, cert };
}

/** For DNS names; `daysLeft` negative for one that has expired. */
export function certificateFor(
  authority: Authority,
  names: readonly string[],
  daysLeft = 1,
): ServerCertificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const alternatives = sequence(...names.map((name) => der(0x82, Buffer.from(name))));
  const cert = certificate({
    subject: names[0] ?? "",
    issuer: authority.name,
    spki: publicKey.export({ type: "spki", format: "der" }),
    extensions: [extension(OID.subjectAltName, alternatives)],
    signer: authority.key,
    daysLeft,
  });
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert };
}

type Parts = {
  subject: string;
  issuer: string;
  spki: Buffer;
  extensions: Buffer[];
  signer: KeyObject;
  daysLeft?: number;
};

function certificate({ subject, issuer, spki, extensions, signer, daysLeft = 1 }: Parts): string {
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const serial = der(
    0x02,
    Buffer.from([1, Math.floor(Math.random() * 256), Math.floor(Math.random() * 256)]),
  );
  const validity = sequence(time(Date.now() - 30 * DAY_MS), time(Date.now() + daysLeft * DAY_MS));
  const version3 = der(0xa0, der(0x02, Buffer.from([2])));
  const content = sequence(
    version3,
    serial,
    algorithm,
    nameOf(issuer),
    validity,
    nameOf(subject),
    spki,
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", content, signer);
  const whole = sequence(content, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString("base64").replace(/.{1,64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
}

function nameOf(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid(OID.commonName), der(0x0c, Buffer.from(commonName)))));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

function time(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, "");
  return der(0x18, Buffer.from(text));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, content: Buffer): Buffer {
  const length = content.byteLength;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}
