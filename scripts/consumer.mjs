// The consumer of the quickstart, and messages for it.
import { once } from "node:events";
import { createServer } from "node:http";

export async function startConsumer() {
  let taken = 0;
  const server = createServer((_request, response) => {
    taken++;
    response.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Waits for the given total number of messages. @throws AbortError after 30 seconds without one */
    async took(count) {
      while (taken < count) await once(server, "request", { signal: AbortSignal.timeout(30_000) });
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Publishes messages. `limits` has the format of the header, such as "rate=5, period=1d". */
export async function publish(platform, { flowControlKey, limits, destination, count }) {
  const headers = {
    authorization: `Bearer ${platform.queueToken}`,
    "Upstash-Flow-Control-Key": flowControlKey,
    "Upstash-Flow-Control-Value": limits,
  };
  for (let number = 1; number <= count; number++) {
    const body = `order ${number}`;
    const response = await fetch(`${platform.url}/v2/publish/${destination}`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`The message was not published: ${response.status} ${await response.text()}`);
  }
}
