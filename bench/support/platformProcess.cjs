// A local platform in a process of its own, so that it does not share a thread with what is measured. It is the built
// one: translating it would take longer than most of what is measured.
const { startPlatform } = require("rekey-local");

process.once("message", ({ latencyMs, ...options }) => {
  let requests = 0;
  void startPlatform({ ...options, onRequest: () => requests++ }).then((platform) => {
    if (latencyMs !== undefined) platform.failNext({ delayMs: latencyMs, times: Number.MAX_SAFE_INTEGER });
    const { url, username, password, queueToken } = platform;
    process.send({ url, username, password, queueToken });
    process.on("message", () => {
      process.send(requests);
      requests = 0;
    });
  });
});
process.once("disconnect", () => process.exit());
