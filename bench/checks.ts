import { atMost, type Check, enginesOf, matching, type Row, secondsOf } from "./support/rows";

/** The checks of the measurements, without those whose measurements are missing. */
export function checksOf(rows: readonly Row[]): Check[] {
  const engines = enginesOf(rows);
  const listed = matching(rows, { subject: "getFlowControlKey", count: 1000 });
  const checks = [
    ...engines.flatMap((where) => checksOfEngine(rows, where)),
    ...["first up", "rotate all", "first up, read first", "rotate all, read first"].map((one) =>
      overNetwork(rows, "fleet", one, 1.25),
    ),
    overNetwork(rows, "client", "reset", 1.1),
    overNetwork(rows, "client", "read, reset, read", 1.15),
    ...listed.map(({ requests = NaN }) => atMost("requests for 1,000 flow-control keys", requests, 2)),
  ];
  return checks.filter((check) => check !== undefined);
}

function overNetwork(rows: readonly Row[], subject: string, one: string, limit: number): Check | undefined {
  const [ours, bare] = [subject, "bare HTTPS"].map((each) =>
    secondsOf(rows, { roundTripMs: 50, case: one, count: 200, subject: each }),
  );
  return share(`50 ms round trip, ${one}: ${subject} of 200 ÷ bare HTTPS`, limit, ours, bare);
}

function checksOfEngine(rows: readonly Row[], where: string): (Check | undefined)[] {
  const firstUp = (subject: string, count: number) => secondsOf(rows, { where, subject, count, case: "first up" });
  const [fleet, handWritten, nothing] = [firstUp("fleet", 1000), firstUp("handWritten", 1000), firstUp("noop", 1)];
  const bare = secondsOf(rows, { subject: "bare HTTP", case: "first up", count: 1000 });
  const least = nothing === undefined || bare === undefined ? undefined : nothing + bare;
  const [peak] = matching(rows, { where, subject: "fleet", case: "first up", count: 10_000 });
  return [
    share(`${where}: fleet of 1,000 ÷ (one empty resource + bare HTTP)`, 1.5, fleet, least),
    // An empty `up` alone takes 1/30 of the time of the hand-written resources.
    share(`${where}: fleet of 1,000 ÷ hand-written`, 1 / 20, fleet, handWritten),
    share(
      `${where}: state of a PasswordRotation ÷ hand-written`,
      0.4,
      statePer(rows, where, "passwordRotation"),
      statePer(rows, where, "handWritten"),
    ),
    peak?.hostPeak === undefined
      ? undefined
      : atMost(`${where}: GiB of the host at most, fleet of 10,000`, peak.hostPeak / 2 ** 30, 1.5),
  ];
}

/** Bytes of state per database. */
function statePer(rows: readonly Row[], where: string, subject: string): number | undefined {
  const sizes = matching(rows, { where, subject, case: "first up" }).sort((a, b) => a.count - b.count);
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (first?.stateSize === undefined || last?.stateSize === undefined || first === last) return undefined;
  return (last.stateSize - first.stateSize) / (last.count - first.count);
}

function share(what: string, limit: number, value: number | undefined, of: number | undefined): Check | undefined {
  return value === undefined || of === undefined ? undefined : atMost(what, value / of, limit);
}
