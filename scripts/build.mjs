// npm run build. With `fresh`, as a package is built: without what earlier builds left.
import { build, buildFresh } from "./lib.mjs";

if (process.argv[2] === "fresh") buildFresh();
else build();
