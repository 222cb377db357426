import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { type AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type PlatformOptions, startPlatform } from "../local/platform/index";

/** Number of keys with a waiting message. */
const waitingKeys = 10_000;
/** Number of concurrent requests. */
const connections = 32;
/** Maximum number of published messages that are not delivered yet; publishing waits if there are more. */
const mostBehind = 2_000;
const queueToken = "bench";

interface Served {
  readonly url: string;
  usage(): Promise<Usage>;
  end(): void;
}

/** The usage of a server's process: memory after a garbage collection, and CPU time since its start. */
interface Usage {
  readonly rssMb: number;
  readonly heapMb: number;
  readonly cpuMs: number;
}

type Role = "platform" | "bare";

/**
 * Compares publishes per second to a platform with 10,000 waiting keys with requests per second to a bare HTTP server,
 * using the same client code in the same run. Then measures the platform's memory under load. Each server runs in its
 * own process; messages are delivered to this one.
 *
 * @param seconds duration of the measurement of each server
 * @param memorySeconds duration of the memory measurement
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
  const cpu = ((await platform.usage()).cpuMs - idle.cpuMs) / published;
  console.log(`publishes with ${waitingKeys} waiting keys  ${rate.toFixed(0)}/s, including delivery`);
  console.log(`CPU time of the platform             ${cpu.toFixed(2)} ms each, including delivery`);
  console.log(`requests to a bare HTTP server       ${bareRate.toFixed(0)}/s`);
  console.log(`ratio                                ${(rate / bareRate).toFixed(2)}`);

  console.log(`memory   rss ${idle.rssMb} MB, heap ${idle.heapMb} MB after a garbage collection, before the load`);
  for (let part = 1; part <= 6; part++) {
    const partRate = await measure(memorySeconds / 6, publishOne);
    const { rssMb, heapMb } = await platform.usage();
    const after = `after ${((memorySeconds / 6) * part).toFixed(0)} s of load at ${partRate.toFixed(0)}/s`;
    console.log(`memory   rss ${rssMb} MB, heap ${heapMb} MB ${after}`);
  }
  [bare, platform, destination].forEach((server) => server.end());
  agent.destroy();
}

/** Two messages for each key, with a limit of one per week. */
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

/** A bare server. It reads the body, and its response has the size of the platform's. */
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

/** Starts a server in its own process. */
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
    process.send!({
      rssMb: megabytes(rss),
      heapMb: megabytes(heapUsed),
      cpuMs: (user + system) / 1000,
    } satisfies Usage);
  });
  process.on("disconnect", () => process.exit());
  process.send!(url);
}

if (require.main === module) {
  const [first = "10", memorySeconds = "60"] = process.argv.slice(2);
  void (process.send === undefined ? benchPlatform(Number(first), Number(memorySeconds)) : runRole(first as Role));
}
