// npm run test:model: the model-based tests in their full number. REKEY_SEED replays a run.
import { runTests } from "../../scripts/lib.mjs";

runTests(["test/model/**/*.test.ts"], { REKEY_MODEL_RUNS: "1000", REKEY_MODEL_REAL_RUNS: "30" });
