import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Settings, settingsOf } from "../test/support/project";
import { type BareRequest, sendBare } from "./bareHttp";
import { databaseIds, startBenchPlatform } from "./platform";
import { timeUps } from "./stack";

/** Seconds of Rekey and of its baseline, measured one after the other. */
export interface Measured {
  readonly what: string;
  /** Of the ratio of both, as a median. */
  readonly limit: number;
  readonly seconds: number;
  readonly baseline: number;
}

const roundTripMs = 50;
const databasePath = "/v2/redis/database/{id}";

const resetOf = (id: string): BareRequest => ({ method: "POST", path: `/v2/keyvalue/reset-password/${id}` });
const readOf = (id: string): BareRequest => ({ method: "GET", path: databasePath.replace("{id}", id) });

/** The processor time of the provider for a fleet of 1,000, without requests, against hashes and JSON texts. */
export async function measureProcessor(): Promise<Measured[]> {
  const child = fork(join(__dirname, "fleetProcess.cjs"));
  child.send(databaseIds(1000));
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`The fleet's process ended with ${code}.`);
  });
  // It also ends after its message.
  failed.catch(() => undefined);
  const [measured] = (await Promise.race([once(child, "message"), failed])) as [Pick<Measured, "seconds" | "baseline">];
  const what = "processor time of a fleet of 1,000 (check, create, check, diff, update) ÷ 10,000 hashes and JSON texts";
  return [{ what, limit: 14.5, ...measured }];
}

/** The whole `up` of a fleet of 1,000, and one that changes nothing, against one resource that does nothing. */
export async function measureEngine(): Promise<Measured[]> {
  const ids = databaseIds(1000);
  const platform = await startBenchPlatform({ databases: ids });
  try {
    const [empty = NaN, emptyAgain = NaN] = await timeUps(2, "nothing");
    const began = performance.now();
    await sendBare(platform, ids.map(resetOf));
    const bare = (performance.now() - began) / 1000;
    let ups: number[] = [];
    const { requests } = await platform.during(async () => {
      ups = await timeUps(2, "fleet", ids, settingsOf(platform));
    });
    if (requests !== ids.length) throw new Error(`${requests} requests instead of ${ids.length}`);
    const [first = NaN, unchanged = NaN] = ups;
    return [
      {
        what: "first `up` of a fleet of 1,000 ÷ (that of an empty resource + bare requests)",
        limit: 1.3,
        seconds: first,
        baseline: empty + bare,
      },
      {
        what: "unchanged `up` of a fleet of 1,000 ÷ that of an empty resource",
        limit: 1.2,
        seconds: unchanged,
        baseline: emptyAgain,
      },
    ];
  } finally {
    platform.close();
  }
}

/** The resets of 200 databases over a network, from the first to the last request, against as many bare ones. */
export async function measureNetwork(): Promise<Measured[]> {
  const ids = databaseIds(200);
  const readable = { "rekey:databasePath": databasePath };
  return [
    await overNetwork("resets", 1.1, ids, ids.map(resetOf), {}),
    // The response to a reset has no credentials here, and the reads have them.
    await overNetwork(
      "reads, resets and reads",
      1.15,
      ids,
      ids.flatMap((id) => [readOf(id), resetOf(id), readOf(id)]),
      readable,
    ),
  ];
}

async function overNetwork(
  what: string,
  limit: number,
  ids: readonly string[],
  bare: readonly BareRequest[],
  settings: Settings,
): Promise<Measured> {
  const credentials = "rekey:databasePath" in settings ? "read" : "always";
  const platform = await startBenchPlatform({ databases: ids, databasePath, credentials }, roundTripMs);
  try {
    const baseline = await platform.during(() => sendBare(platform, bare));
    const all = { ...settingsOf(platform), "rekey:caFile": platform.caFile ?? "", ...settings };
    const { seconds, requests } = await platform.during(() => timeUps(1, "fleet", ids, all));
    if (requests !== bare.length) throw new Error(`${what}: ${requests} requests instead of ${bare.length}`);
    const title = `${what} of ${ids.length} databases at ${roundTripMs} ms of round trip ÷ bare HTTPS`;
    return { what: title, limit, seconds, baseline: baseline.seconds };
  } finally {
    platform.close();
  }
}
