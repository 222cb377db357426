/**
 * Loaded by mocha before any test: settings of the shell that runs the tests must not decide what they find. Only the
 * suite's own switches stay, and where the pulumi CLI keeps its files.
 */
const kept = /^(REKEY_(SEED|RECORD|KILLS|CLIENTS|REDIS|MODEL_RUNS|FUZZ_SCALE|TEST_SLOW)|PULUMI_HOME)$/;

for (const name of Object.keys(process.env)) {
  if (/^(REKEY|PULUMI|UPSTASH|QSTASH)_/.test(name) && !kept.test(name)) delete process.env[name];
}
