import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { type AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type PlatformOptions, startPlatform } from "../local/platform/index";

/** Keys of which a message waits all the time. */
const waitingKeys = 10_000;
/** Requests that are under way at once. */
const connections = 32;
/** Messages that were published and not delivered: with more, publishing waits. */
const mostBehind = 2_000;
const queueToken = "bench";

interface Served {
  readonly url: string;
  usage(): Promise<Usage>;
  end(): void;
}

/** What a server's process uses: memory in MB after a collection, and milliseconds of a core since its start. */
interface Usage {
  readonly rss: number;
  readonly heap: number;
  readonly cpu: number;
}

type Role = "platform" | "bare";

/**
 * Publishes per second against a platform with 10,000 waiting keys, beside requests per second against a bare HTTP
 * server, both driven by the same code in the same run; then the platform's memory under load. Each server has a
 * process of its own; messages are delivered to this one.
 *
 * @param seconds how long each server is measured
 * @param memorySeconds how long the memory is watched
 */
export async function benchPlatform(seconds: number, memorySeconds: number): Promise<void> {
  const destination = await countingServer();
  const bare = await serve("bare");
  const platform = await serve("platform");
  const publish = (body: string, headers: Record<string, string>, path = "publish/" + destination.url) =>
    post(`${platform.url}/v2/${path}`, body, { authorization: `Bearer ${queueToken}`, ...headers });

  await publish(waitingMessages(destination.url), {}, "batch");
  while (destination.count() < waitingKeys) {
    await wait(50);
  }
  const idle = await platform.usage();

  let published = 0;
  const publishOne = async () => {
    const key = `busy-${published % 100}`;
    const headers = { "upstash-flow-control-key": key, "upstash-flow-control-value": "parallelism=10" };
    published++;
    await publish("x".repeat(200), headers);
    while (published - (destination.count() - waitingKeys) > mostBehind) {
      await wait(5);
    }
  };

  const bareRate = await measure(seconds, () => post(bare.url, "x".repeat(200), {}));
  const rate = await measure(seconds, publishOne);
  const cpu = ((await platform.usage()).cpu - idle.cpu) / published;
  console.log(`publishes with ${waitingKeys} waiting keys  ${rate.toFixed(0)}/s, each of them delivered`);
  console.log(`of the platform, each takes          ${cpu.toFixed(2)} ms of one core, its delivery included`);
  console.log(`requests to a bare HTTP server       ${bareRate.toFixed(0)}/s`);
  console.log(`ratio                                ${(rate / bareRate).toFixed(2)}`);

  console.log(`memory   rss ${idle.rss} MB, heap ${idle.heap} MB after a collection, before the load`);
  for (let part = 1; part <= 6; part++) {
    const partRate = await measure(memorySeconds / 6, publishOne);
    const { rss, heap } = await platform.usage();
    const after = `after ${((memorySeconds / 6) * part).toFixed(0)} s of load at ${partRate.toFixed(0)}/s`;
    console.log(`memory   rss ${rss} MB, heap ${heap} MB ${after}`);
  }
  [bare, platform, destination].forEach((server) => server.end());
  agent.destroy();
}

/** Two messages for each key, of which one a week may be delivered. */
function waitingMessages(destination: string): string {
  const messages = Array.from({ length: 2 * waitingKeys }, (_, index) => ({
    destination,
    headers: {
      "Upstash-Flow-Control-Key": `waiting-${index % waitingKeys}`,
      "Upstash-Flow-Control-Value": "rate=1 per 7d",
    },
    body: "waits",
  }));
  return JSON.stringify(messages);
}

/** Calls per second. */
async function measure(seconds: number, call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  const end = start + seconds * 1000;
  let calls = 0;
  const work = async () => {
    for (; performance.now() < end; calls++) {
      await call();
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return calls / ((performance.now() - start) / 1000);
}

const agent = new Agent({ keepAlive: true });

function post(url: string, body: string, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent, headers: { ...headers, "content-length": body.length } });
    sent.on("error", reject);
    sent.on("response", (response) => {
      response
        .resume()
        .on("end", () => (response.statusCode! < 300 ? resolve() : reject(new Error(String(response.statusCode)))));
    });
    sent.end(body);
  });
}

/** A bare server: it reads the body, and answers as much as the platform does. */
async function countingServer(): Promise<{ url: string; count(): number; end(): void }> {
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on("end", () => {
      count++;
      outgoing.writeHead(201, { "content-type": "application/json" });
      outgoing.end('{"messageId":"msg_00000000-0000-0000-0000-000000000000"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const end = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, count: () => count, end };
}

/** Starts a server in a process of its own. */
async function serve(role: Role): Promise<Served> {
  const child = fork(__filename, [role], { execArgv: [...process.execArgv, "--expose-gc"] });
  const [url] = (await once(child, "message")) as [string];
  return {
    url,
    async usage() {
      child.send("usage");
      return ((await once(child, "message")) as [Usage])[0];
    },
    end: () => child.disconnect(),
  };
}

async function runRole(role: Role): Promise<void> {
  const options: PlatformOptions = { queueToken, flowControlKeys: [] };
  const { url } = role === "platform" ? await startPlatform(options) : await countingServer();
  const megabytes = (bytes: number) => Math.round(bytes / 1_000_000);
  process.on("message", () => {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    process.send!({ rss: megabytes(rss), heap: megabytes(heapUsed), cpu: (user + system) / 1000 } satisfies Usage);
  });
  process.on("disconnect", () => process.exit());
  process.send!(url);
}

if (require.main === module) {
  const [first = "10", memorySeconds = "60"] = process.argv.slice(2);
  void (process.send === undefined ? benchPlatform(Number(first), Number(memorySeconds)) : runRole(first as Role));
}
