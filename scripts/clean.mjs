// Removes the output of earlier builds, so that files without a source are not packed.
import { rmSync } from "node:fs";
for (const folder of ["../dist", "../local/dist"]) {
  rmSync(new URL(folder, import.meta.url), { recursive: true, force: true });
}
