import { LocalStack } from "../../../local/engine/index";
import { passphrase } from "./project";

// A process of its own that runs one `up`, to be killed.

const [projectDir = "", seconds = ""] = process.argv.slice(2);
void LocalStack.open({ projectDir, passphrase })
  .then((stack) => stack.up(seconds === "" ? {} : { signal: AbortSignal.timeout(Number(seconds) * 1000) }))
  .then(
    () => process.exit(0),
    () => process.exit(1),
  );
