// A build into an old dist/ would pack files whose source is gone.
import { rmSync } from "node:fs";
rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });
