import { describeFaults, type Fault } from "./describeFaults";
import { everywhere, fails, lost, retriedThenFails, succeeds } from "./expected";
import { type Behaviour } from "./rawServer";

const limited =
  (headers: Record<string, string>, code = 429): Behaviour =>
  ({ answer }) =>
    answer(code, headers, '{"error":"slow down"}');
const once =
  (platform: Behaviour): Behaviour =>
  (exchange) =>
    exchange.nth === 1 ? platform(exchange) : exchange.answer(200);

/** A server whose clock is a day off: its date is held against its own `Date`. */
const inOneSecond = (): Record<string, string> => {
  const there = Date.now() + 86_400_000;
  return { date: new Date(there).toUTCString(), "retry-after": new Date(there + 1000).toUTCString() };
};

const waits: readonly Fault[] = [
  {
    row: 25,
    fault: "429 with 1 second, always",
    platform: limited({ "retry-after": "1" }),
    ...everywhere(retriedThenFails(3, /3 times/)),
  },
  {
    row: 25,
    fault: "429 with 1 second, once",
    platform: once(limited({ "retry-after": "1" })),
    ...everywhere(succeeds({ sent: 2 })),
  },
  {
    row: 26,
    fault: "429 with a date, always",
    platform: (exchange) => limited(inOneSecond())(exchange),
    ...everywhere(retriedThenFails(3, /3 times/)),
  },
  {
    row: 26,
    fault: "429 with a date, once",
    platform: once((exchange) => limited(inOneSecond())(exchange)),
    ...everywhere(succeeds({ sent: 2 })),
  },
  { row: 29, fault: "503 with Retry-After", platform: limited({ "retry-after": "1" }, 503), ...lost(/answered 503/) },
  {
    row: 29,
    fault: "503 with Retry-After, once",
    platform: once(limited({ "retry-after": "1" }, 503)),
    read: succeeds({ sent: 2 }),
  },
];

const unusable: readonly [what: string, value: string][] = [
  ["huge", "99999999999999999999"],
  ["beyond the deadline", "3600"],
  ["negative", "-5"],
  ["no number", "soon"],
  ["a fraction", "1.5"],
  ["empty", ""],
];

const atOnce = unusable.flatMap(([what, value]): Fault[] => [
  {
    row: 27,
    fault: `429 with a Retry-After that is ${what}`,
    platform: limited({ "retry-after": value }),
    reset: fails(1, /answered 429: slow down/, /Wait/),
    read: fails(1, /answered 429/),
  },
]);

for (const fault of waits) describeFaults(`faults: ${fault.fault}`, { deadlineSeconds: 8 }, [fault]);
describeFaults("faults: unusable Retry-After", { deadlineSeconds: 60 }, atOnce);
