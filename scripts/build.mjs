// npm run build
import { build } from "./lib.mjs";

build();
