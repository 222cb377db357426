import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ModuleKind, transpile } from "typescript";
import { PlatformClient } from "../provider/platformClient";
import { databasePassword } from "../provider/rotation/kinds/databasePassword";
import { SharedReads } from "../provider/flowControl/sharedReads";
import { Settings } from "../provider/settings/settings";
import { caFile, certificate } from "../test/faults/certificates";
import { Project } from "../test/support/project";
import { bareHttp, requestsOf } from "./http";
import { type BenchPlatform, databaseIds, startBenchPlatform } from "./support/platform";
import { type Row } from "./support/rows";
import { openBenchStack, whySkipped } from "./support/stack";

const roundTrips = [0, 20, 50, 150];
/** The round trip with a limit (see checks.ts). */
const limitedMs = 50;
/** So many databases are reset. Single resources cost an engine more than the network does, so fewer are enough. */
const counts = { fleet: 200, passwordRotation: 50 } as const;
const databasePath = "/v2/databases/{id}";
/** So many are read one by one; more by one list. */
const keyCounts = [8, counts.fleet];

/**
 * Resets and reads over a network with TLS, against bare HTTPS over the same network with as many requests under way.
 */
export async function benchNetwork(largest: number, report: (rows: Row[]) => void): Promise<void> {
  const ids = databaseIds(Math.min(largest, counts.fleet));
  for (const roundTripMs of roundTrips) {
    const platform = await startBenchPlatform({
      databases: ids,
      flowControlKeys: ids,
      databasePath,
      credentials: "always",
    });
    const distant = await distantly(platform, roundTripMs);
    const network = { where: `network, ${roundTripMs} ms`, roundTripMs };
    try {
      for (const { subject, isRead } of scenariosAt(roundTripMs)) {
        const some = ids.slice(0, counts[subject]);
        const requests = some.flatMap((id) => [
          ...(isRead ? requestsOf("GET", [databasePath.replace("{id}", id)]) : []),
          ...requestsOf("POST", [`/v2/keyvalue/reset-password/${id}`]),
        ]);
        const bare = await inSpan(platform, () => bareHttp(distant, requests, caFile));
        const row = { ...network, count: some.length };
        report(resetCases(isRead).map((one) => ({ ...row, case: one, subject: "bare HTTPS", ...bare })));
        report(await resets({ ...row, subject }, some, isRead, platform, distant));
      }
      for (const isRead of roundTripMs === limitedMs ? [false, false, false, true, true, true] : []) {
        report(await resetsWithoutEngine(network, ids, isRead, platform, distant));
      }
      for (const count of keyCounts) {
        report(await reads(network, ids.slice(0, count), platform, distant));
      }
    } finally {
      distant.close();
      platform.close();
    }
  }
}

interface NetworkScenario {
  readonly subject: keyof typeof counts;
  /** Whether each reset begins with a read of the database. */
  readonly isRead: boolean;
}

/** What is measured, one after the other. A limit holds for the median of several measurements of the fleet. */
function scenariosAt(roundTripMs: number): NetworkScenario[] {
  if (whySkipped !== undefined) return [];
  const single: NetworkScenario = { subject: "passwordRotation", isRead: false };
  const fleet: NetworkScenario = { subject: "fleet", isRead: false };
  if (roundTripMs !== limitedMs) return [fleet, single];
  const read: NetworkScenario = { ...fleet, isRead: true };
  return [fleet, fleet, fleet, read, read, read, single];
}

function resetCases(isRead: boolean): [firstUp: string, rotateAll: string] {
  const suffix = isRead ? ", read first" : "";
  return [`first up${suffix}`, `rotate all${suffix}`];
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
  isRead: boolean,
  platform: BenchPlatform,
  distant: BenchPlatform,
): Promise<Row[]> {
  const program = readFileSync(join(__dirname, "programs", `${row.subject}.ts`), "utf8");
  // As JavaScript: the start of TypeScript would take most of the time, and is not measured.
  const project = new Project(transpile(program, { module: ModuleKind.CommonJS }));
  try {
    const stack = await openBenchStack(project, {
      ...distant.environment,
      ...(isRead && { REKEY_DATABASE_PATH: databasePath }),
    });
    const rows: Row[] = [];
    for (const [index, one] of resetCases(isRead).entries()) {
      project.write("databases.json", JSON.stringify(Object.fromEntries(ids.map((id) => [id, String(index)]))));
      const { requests, seconds } = await inSpan(platform, () => stack.up());
      if (requests !== (isRead ? 2 : 1) * ids.length) throw new Error(`${row.subject}, ${one}: ${requests} requests`);
      rows.push({ ...row, case: one, seconds, requests });
    }
    return rows;
  } finally {
    project.remove();
  }
}

/** Resets by the provider's client alone, each between two reads or not. */
async function resetsWithoutEngine(
  network: Pick<Row, "where" | "roundTripMs">,
  ids: readonly string[],
  isRead: boolean,
  platform: BenchPlatform,
  distant: BenchPlatform,
): Promise<Row[]> {
  const requests = ids.flatMap((id) => {
    const read = isRead ? requestsOf("GET", [databasePath.replace("{id}", id)]) : [];
    return [...read, ...requestsOf("POST", [`/v2/keyvalue/reset-password/${id}`]), ...read];
  });
  const bare = await inSpan(platform, () => bareHttp(distant, requests, caFile));
  const environment = { ...distant.environment, REKEY_DATABASE_PATH: databasePath };
  const client = new PlatformClient(new Settings(() => undefined, environment)).permitting("resets");
  const operations = client.operations(databasePassword);
  const rotate = async (id: string): Promise<void> => {
    if (isRead) await operations.read(id);
    await operations.reset(id);
    if (isRead) await operations.read(id);
  };
  const ours = await inSpan(platform, () => Promise.all(ids.map(rotate)));
  const row = { ...network, case: isRead ? "read, reset, read" : "reset", count: ids.length };
  return [
    { ...row, subject: "client", ...ours },
    { ...row, subject: "bare HTTPS", ...bare },
  ];
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
  const bare = await timed(() => bareHttp(distant, requestsOf("GET", paths), caFile));
  const ours = await timed(() => Promise.all(keys.map((key) => shared.get(key))));
  return [
    { ...row, subject: "getFlowControlKey", ...ours },
    { ...row, subject: "bare HTTPS", ...bare },
  ];
}
