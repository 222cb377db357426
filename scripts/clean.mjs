// A build into an old dist/ would pack files whose source is gone.
import { rmSync } from "node:fs";
for (const folder of ["../dist", "../local/dist"]) {
  rmSync(new URL(folder, import.meta.url), { recursive: true, force: true });
}
