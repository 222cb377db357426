// A local platform in a process of its own, so that it does not share a thread with what is measured.
import { type PlatformOptions, startPlatform } from "../../local/platform";

process.once("message", (options: PlatformOptions) => {
  let requests = 0;
  void startPlatform({ ...options, onRequest: () => requests++ }).then((platform) => {
    const { url, username, password, queueToken } = platform;
    process.send?.({ url, username, password, queueToken });
    process.on("message", () => {
      process.send?.(requests);
      requests = 0;
    });
  });
});
process.once("disconnect", () => process.exit());
