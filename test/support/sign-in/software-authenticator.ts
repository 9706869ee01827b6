// A test double of an authenticator: a real ES256 key and real signatures, and each of the ways in which one can be wrong.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** What the service answers whose page asks for a passkey. */
export type Begun = { flow: string; options: { challenge: string; user: { id: string } } };

export type AuthenticatorFault = Partial<{
  origin: string;
  rpId: string;
  counter: number;
  isVerified: boolean;
  isSynced: boolean;
  userHandle: string;
  signsOther: boolean;
}>;

/** Answers as a browser's JSON does. `userHandle`: given to it when its passkey was made. */
export class SoftwareAuthenticator {
  readonly credentialId = randomBytes(16).toString("base64url");
  counter = 0;
  userHandle = "";
  readonly #origin: string;
  readonly #isSynced: boolean;
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject };

  constructor(origin: string, { isSynced = false } = {}) {
    this.#origin = origin;
    this.#isSynced = isSynced;
    this.#keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  }

  create(options: { challenge: string; user: { id: string } }, fault: AuthenticatorFault = {}): string {
    this.userHandle = options.user.id;
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    // COSE: kty EC2, alg ES256, crv P-256.
    const key = Buffer.concat([
      Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32]),
      Buffer.from(x, "base64url"),
      Buffer.from([0x22, 0x58, 32]),
      Buffer.from(y, "base64url"),
    ]);
    const id = Buffer.from(this.credentialId, "base64url");
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const data = Buffer.concat([this.#data(0x40, fault), Buffer.alloc(16), length, id, key]);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(data.length);
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      ...[text("fmt"), text("none"), text("attStmt"), Buffer.from([0xa0]), text("authData")],
      Buffer.from([0x59]),
      size,
      data,
    ]);
    return this.#answer({
      clientDataJSON: this.#client("webauthn.create", options.challenge, fault),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal"],
    });
  }

  get(options: { challenge: string }, fault: AuthenticatorFault = {}): string {
    const data = this.#data(0, fault);
    const clientDataJSON = this.#client("webauthn.get", options.challenge, fault);
    const signed = Buffer.concat([data, sha256(Buffer.from(clientDataJSON, "base64url"))]);
    const signature = sign("sha256", fault.signsOther ? randomBytes(32) : signed, this.#keys.privateKey);
    return this.#answer({
      clientDataJSON,
      authenticatorData: data.toString("base64url"),
      signature: signature.toString("base64url"),
      userHandle: fault.userHandle ?? this.userHandle,
    });
  }

  #data(more: number, fault: AuthenticatorFault): Buffer {
    const { rpId = new URL(this.#origin).hostname, counter = this.counter, isVerified = true } = fault;
    const isSynced = fault.isSynced ?? this.#isSynced;
    const counted = Buffer.alloc(4);
    counted.writeUInt32BE(counter);
    const flags = 0x01 | (isVerified ? 0x04 : 0) | (isSynced ? 0x18 : 0) | more;
    return Buffer.concat([sha256(Buffer.from(rpId)), Buffer.from([flags]), counted]);
  }

  #client(type: string, challenge: string, { origin = this.#origin }: AuthenticatorFault): string {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString("base64url");
  }

  #answer(response: object): string {
    const { credentialId: id } = this;
    return JSON.stringify({ id, rawId: id, type: "public-key", clientExtensionResults: {}, response });
  }
}

/** CBOR of a short text. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
