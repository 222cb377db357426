// A local platform in a separate process, so that it does not share a thread with the measured code. It is the built
// one: translating it would take longer than most of what is measured.
const { startPlatform } = require("rekey-local");

process.once("message", (options) => {
  let requests = 0;
  let firstAt;
  let lastAt;
  const onRequest = () => {
    requests++;
    lastAt = performance.now();
    firstAt ??= lastAt;
  };
  void startPlatform({ ...options, onRequest }).then((platform) => {
    const { url, username, password, queueToken } = platform;
    process.send({ url, username, password, queueToken });
    process.on("message", () => {
      process.send({ requests, seconds: (lastAt - firstAt) / 1000 });
      requests = 0;
      firstAt = undefined;
    });
  });
});
process.once("disconnect", () => process.exit());
