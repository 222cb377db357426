// npm run test:kills: 200 random kills during `up` of 50 resources, or REKEY_KILLS. REKEY_SEED replays a run.
import { runTests } from "../../scripts/lib.mjs";

runTests(["test/kills/*.test.ts"], { REKEY_KILLS: "200" });
