// A process that archives all clicks of a log, or restores a file, and kills itself at a step.
import { archiveBefore, archiveIn, EVER } from "./archived-event-store.ts";

const [folder = "", step = "", count = "1", file] = process.argv.slice(2);
let left = Number(count);

function dieAt(name: string): void {
  if (name !== step) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

const archive = archiveIn(folder);
if (file !== undefined) await archive.restore(file, () => dieAt("restored"));
else {
  await archive.finish(({ step: done }) => dieAt(done));
  await archiveBefore(archive, EVER, ({ step: done }) => dieAt(done));
}
archive.close();
