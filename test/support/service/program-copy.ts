// The program in a folder of its own, with a `node_modules` that a test may change: packages are links to ours.
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export async function copyProgram(folder: string): Promise<void> {
  for (const part of ["src", "bin", "package.json"])
    await cp(join(root, part), join(folder, part), { recursive: true });
  await mkdir(join(folder, "node_modules"));
  const packages = await readdir(join(root, "node_modules"));
  for (const name of packages.filter((name) => name === ".bin" || !name.startsWith(".")))
    await symlink(join(root, "node_modules", name), join(folder, "node_modules", name));
}
