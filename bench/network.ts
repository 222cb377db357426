import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ModuleKind, transpile } from "typescript";
import { PlatformClient } from "../provider/engine/platformClient";
import { SharedReads } from "../provider/flowControl/sharedReads";
import { Settings } from "../provider/settings/settings";
import { caFile, certificate } from "../test/faults/certificates";
import { localEngine } from "../test/support/engine";
import { Project } from "../test/support/project";
import { bareHttp } from "./http";
import { type BenchPlatform, databaseIds, startBenchPlatform } from "./support/platform";
import { type Row } from "./support/rows";
import { openBenchStack } from "./support/stack";

const roundTrips = [0, 20, 50, 150];
/** The round trip with a limit (see checks.ts). */
const limitedMs = 50;
/** So many databases are reset. Single resources cost an engine more than the network does, so fewer are enough. */
const counts = { fleet: 200, passwordRotation: 50 } as const;
/** So many are read one by one; more by one list. */
const keyCounts = [8, counts.fleet];

/**
 * Resets and reads over a network with TLS, against bare HTTPS over the same network with as many requests under way.
 */
export async function benchNetwork(largest: number, tell: (rows: Row[]) => void): Promise<void> {
  const ids = databaseIds(Math.min(largest, counts.fleet));
  for (const roundTripMs of roundTrips) {
    const platform = await startBenchPlatform({ databases: ids, flowControlKeys: ids });
    const distant = await distantly(platform, roundTripMs);
    const network = { where: `network, ${roundTripMs} ms`, roundTripMs };
    try {
      for (const subject of subjectsAt(roundTripMs)) {
        const most = counts[subject];
        const some = ids.slice(0, most);
        const paths = some.map((id) => `/v2/keyvalue/reset-password/${id}`);
        const bare = await inSpan(platform, () => bareHttp(distant, "POST", paths, caFile));
        const row = { ...network, count: some.length };
        tell(["first up", "rotate all"].map((one) => ({ ...row, case: one, subject: "bare HTTPS", ...bare })));
        tell(await resets({ ...row, subject }, some, platform, distant));
      }
      for (const count of keyCounts) {
        tell(await reads(network, ids.slice(0, count), platform, distant));
      }
    } finally {
      distant.close();
      platform.close();
    }
  }
}

/** What is measured, one after the other. A limit holds for the median of several measurements of the fleet. */
function subjectsAt(roundTripMs: number): (keyof typeof counts)[] {
  return roundTripMs === limitedMs ? ["fleet", "fleet", "fleet", "passwordRotation"] : ["fleet", "passwordRotation"];
}

/** The platform as it is seen from the other end of the network. */
async function distantly(platform: BenchPlatform, roundTripMs: number): Promise<BenchPlatform> {
  const child = fork(join(__dirname, "support", "delayProcess.cjs"));
  const { cert, key } = certificate("good");
  child.send({
    port: Number(new URL(platform.url).port),
    roundTripMs,
    certificate: { cert: cert.toString(), key: key.toString() },
  });
  const [port] = (await once(child, "message")) as [number];
  const url = `https://127.0.0.1:${port}`;
  const addresses = { REKEY_BASE_URL: url, REKEY_QUEUE_URL: url, REKEY_CA_FILE: caFile };
  return {
    ...platform,
    url,
    environment: { ...platform.environment, ...addresses },
    close: () => child.disconnect(),
  };
}

/** The time from the first to the last request, as the platform sees it. */
async function inSpan(platform: BenchPlatform, act: () => Promise<unknown>) {
  await platform.newSpan();
  await act();
  return platform.newSpan();
}

async function resets(
  row: Pick<Row, "where" | "roundTripMs" | "subject" | "count">,
  ids: readonly string[],
  platform: BenchPlatform,
  distant: BenchPlatform,
): Promise<Row[]> {
  const program = readFileSync(join(__dirname, "programs", `${row.subject}.ts`), "utf8");
  // As JavaScript: the start of TypeScript would take most of the time, and is not measured.
  const project = new Project(transpile(program, { module: ModuleKind.CommonJS }));
  try {
    const stack = await openBenchStack(localEngine, project, distant.environment);
    const rows: Row[] = [];
    for (const [one, version] of [
      ["first up", "1"],
      ["rotate all", "2"],
    ] as const) {
      project.write("databases.json", JSON.stringify(Object.fromEntries(ids.map((id) => [id, version]))));
      const { requests, seconds } = await inSpan(platform, () => stack.up());
      if (requests !== ids.length) throw new Error(`${row.subject}, ${one}: ${requests} requests`);
      rows.push({ ...row, case: one, seconds, requests });
    }
    return rows;
  } finally {
    project.remove();
  }
}

async function reads(
  network: Pick<Row, "where" | "roundTripMs">,
  keys: readonly string[],
  platform: BenchPlatform,
  distant: BenchPlatform,
): Promise<Row[]> {
  const row = { ...network, case: "read keys", count: keys.length };
  const settings = new Settings(() => undefined, distant.environment);
  const shared = new SharedReads(new PlatformClient(settings).flowControl);
  const timed = async (act: () => Promise<unknown>) => {
    await platform.newRequests();
    const began = performance.now();
    await act();
    const seconds = (performance.now() - began) / 1000;
    return { seconds, requests: await platform.newRequests() };
  };
  const paths = keys.map((key) => `/v2/flowControl/${key}`);
  const bare = await timed(() => bareHttp(distant, "GET", paths, caFile));
  const ours = await timed(() => Promise.all(keys.map((key) => shared.get(key))));
  return [
    { ...row, subject: "getFlowControlKey", ...ours },
    { ...row, subject: "bare HTTPS", ...bare },
  ];
}
