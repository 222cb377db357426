// The quickstart's outage: a consumer that takes messages and answers none, and messages for it.
import { once } from "node:events";
import { createServer } from "node:http";

export async function startHangingConsumer() {
  let taken = 0;
  const server = createServer(() => taken++);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Waits until it has taken so many messages in all. @throws AbortError after half a minute without one */
    async took(count) {
      while (taken < count) await once(server, "request", { signal: AbortSignal.timeout(30_000) });
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** @param what `limits` as in the header, such as "parallelism=5" */
export async function publish(platform, { flowControlKey, limits, destination, count }) {
  const headers = {
    authorization: `Bearer ${platform.queueToken}`,
    "Upstash-Flow-Control-Key": flowControlKey,
    "Upstash-Flow-Control-Value": limits,
  };
  for (let number = 1; number <= count; number++) {
    const body = `order ${number}`;
    const answer = await fetch(`${platform.url}/v2/publish/${destination}`, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`The message was not published: ${answer.status} ${await answer.text()}`);
  }
}
