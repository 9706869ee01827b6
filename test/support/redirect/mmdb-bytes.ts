// Writes small databases of the MaxMind DB format, with one country for each given network.

export type Network = { bits: string; country: string };
type Node = { 0?: Node | string; 1?: Node | string };

/** `recordSize`: bits of each of the two numbers in a node. */
export function mmdbBytes(networks: readonly Network[], ipVersion: 4 | 6, recordSize: 24 | 28 | 32): Buffer {
  const nodes = nodesOf(networks);
  const records = new Map<string, number>();
  const data: Buffer[] = [];
  let length = 0;
  for (const { country } of networks) {
    if (records.has(country)) continue;
    records.set(country, length);
    const record = map([["country_code", text(country)]]);
    data.push(record);
    length += record.length;
  }
  const numberOf = (child: Node | string | undefined): number => {
    if (child === undefined) return nodes.length;
    if (typeof child === "string") return nodes.length + 16 + (records.get(child) ?? 0);
    return nodes.indexOf(child);
  };
  const tree = nodes.map((node) => encodeNode(numberOf(node[0]), numberOf(node[1]), recordSize));
  const metadata = map([
    ["node_count", uint32(nodes.length)],
    ["record_size", uint16(recordSize)],
    ["ip_version", uint16(ipVersion)],
    ["build_epoch", uint32(1)],
  ]);
  const marker = Buffer.from("abcdef4d61784d696e642e636f6d", "hex");
  return Buffer.concat([...tree, Buffer.alloc(16), ...data, marker, metadata]);
}

function nodesOf(networks: readonly Network[]): Node[] {
  const nodes: Node[] = [{}];
  for (const { bits, country } of networks) {
    let node = nodes[0] as Node;
    for (const [index, bit] of [...bits].entries()) {
      const side = Number(bit) as 0 | 1;
      if (index === bits.length - 1) node[side] = country;
      else {
        const child = (node[side] as Node | undefined) ?? {};
        if (node[side] === undefined) nodes.push(child);
        node[side] = child;
        node = child;
      }
    }
  }
  return nodes;
}

function encodeNode(left: number, right: number, recordSize: 24 | 28 | 32): Buffer {
  const node = Buffer.alloc(recordSize / 4);
  if (recordSize === 32) {
    node.writeUInt32BE(left, 0);
    node.writeUInt32BE(right, 4);
    return node;
  }
  node.writeUIntBE(left & 0xffffff, 0, 3);
  node.writeUIntBE(right & 0xffffff, recordSize === 28 ? 4 : 3, 3);
  if (recordSize === 28) node[3] = ((left >>> 24) << 4) | (right >>> 24);
  return node;
}

function map(entries: readonly [string, Buffer][]): Buffer {
  const encoded = entries.flatMap(([key, value]) => [text(key), value]);
  return Buffer.concat([Buffer.from([(7 << 5) | entries.length]), ...encoded]);
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([(2 << 5) | value.length]), Buffer.from(value)]);
}

function uint16(value: number): Buffer {
  return Buffer.from([(5 << 5) | 2, value >> 8, value & 255]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes[0] = (6 << 5) | 4;
  bytes.writeUInt32BE(value, 1);
  return bytes;
}
