# Checks an export of the log without anything of Linkledger: python3 verify-export.py part.ndjson PUBLIC_KEY
import base64, hashlib, json, sys

P, BASE = 2**255 - 19, bytes.fromhex("58" + "66" * 31)
D = -121665 * pow(121666, -1, P) % P
SIGNED = "number at after position events total root previous placesHash marksHash publicKey".split()
sha = lambda data: hashlib.sha256(data).digest()
number = lambda data: int.from_bytes(data, "little")

def check(holds, otherwise):  # no assert, which python3 -O leaves out
    if not holds:
        sys.exit(f"NOT PROVEN: {otherwise}")

def add(a, b):  # on the curve of Ed25519 (RFC 8032)
    k = D * a[0] * b[0] * a[1] * b[1]
    return ((a[0] * b[1] + b[0] * a[1]) * pow(1 + k, -1, P) % P, (a[1] * b[1] + a[0] * b[0]) * pow(1 - k, -1, P) % P)

def times(n, point, result=(0, 1)):
    while n:
        result, point, n = add(result, point) if n & 1 else result, add(point, point), n >> 1
    return result

def point(data):
    y = number(data) % 2**255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    check(x * x % P == square, "no point of the curve")
    return (x if x % 2 == number(data) >> 255 else P - x, y)

def is_signed(key, text, signature):
    h = number(hashlib.sha512(signature[:32] + key + text).digest())
    return times(number(signature[32:]), point(BASE)) == add(point(signature[:32]), times(h, point(key)))

def root(parts, size):
    if parts and parts[0][1] == size:
        return parts.pop(0)[0]
    left = 1 << (size - 1).bit_length() - 1
    return sha(b"\1" + root(parts, left) + root(parts, size - left))

def verify(file, public_key):
    first, *lines = open(file, encoding="utf-8").read().rstrip("\n").split("\n")
    head = json.loads(first)
    check(head["export"] == "linkledger log 3" and lines[-1] == '{"end":true}', "not a whole export")
    link, whole = head.get("link"), [head["stream"]] if "stream" in head else []
    if link is not None:
        check(len(head) == 2, "a proof of a link says nothing else in its first line")
        whole = [f"link-{link}", f"withdrawals-{link}"]
    revisions = dict.fromkeys(whole, None if "from" in head else 0)  # that come next
    for _, stream, revision, *_ in (value for value in map(json.loads, lines) if isinstance(value, list)):
        check(not whole or stream in whole, f"{stream} does not belong to what was exported")
        expected = revisions.get(stream)
        check(expected in (None, revision), f"revision {expected} of {stream} is missing")
        if stream in whole:
            revisions[stream] = revision + 1
    blocks, before, sealed = [], None, lines.index('{"unsealed":true}')
    for line in lines[:sealed]:
        value = json.loads(line)
        if "seal" in value:
            blocks.append((value["seal"], []))
        else:
            is_event = isinstance(value, list)
            blocks[-1][1].append((sha(b"\0" + line.encode()), 1) if is_event else (bytes.fromhex(value["hash"]), value["events"]))
    check(blocks, "no seal covers anything of it")
    for seal, parts in blocks:
        hashes = {name + "Hash": sha(seal[name].encode()).hex() for name in ("places", "marks") if name in seal}
        text = "\n".join(str({**seal, **hashes}[name]) for name in SIGNED).encode()
        key = base64.urlsafe_b64decode(seal["publicKey"] + "=")
        check(seal["publicKey"] == public_key, f"seal {seal['number']} is signed with another key")
        check(is_signed(key, text, base64.b64decode(seal["signature"])), f"seal {seal['number']} is not what was signed")
        check(root(parts, seal["events"]).hex() == seal["root"] and not parts, f"not what seal {seal['number']} covers")
        check(not before or before[0] + 1 != seal["number"] or before[1] == seal["previous"], "a seal was replaced")
        before = (seal["number"], sha(text + b"\n" + seal["signature"].encode()).hex())
    print(f"{len(blocks)} blocks are what was sealed; {len(lines) - sealed - 2} later events have no seal")

try:
    verify(*sys.argv[1:])
except Exception as error:  # such as a line that was cut
    sys.exit(f"NOT PROVEN: it can't be read as an export: {type(error).__name__}: {error}")
