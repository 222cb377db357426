import { titled } from "./describeFaults";

/** Rows that only an engine can show; each is pending until it does. */
const rows: readonly (readonly [row: number, fault: string, phase: string, result: string])[] = [
  [37, "killed before sending", "next up", "1 sent"],
  [38, "killed after it was applied, before it was saved", "next up", "1 more sent; state equals the platform"],
  [39, "SIGINT in the middle", "up", "saved, or as 38"],
  [40, "state cannot be written", "next up", "as 38"],
  [
    43,
    "two resources, one database",
    "preview, up, replacement",
    "refused in check; 0 sent; a replacement is not refused",
  ],
  [44, "two stacks, one database", "up", "1 sent by each"],
  [47, "an error hook repeats create or update", "up", "at most 1 confirmed reset"],
  [48, "unknown id or version", "preview", "passes; 0 sent"],
  [51, "not installed where the host runs", "destroy", "succeeds"],
  [53, "the engine is killed while resets are queued", "up", "only those in flight are sent"],
];

describe("faults: rows that need an engine", () => {
  for (const row of rows) it(titled(...row));
});
