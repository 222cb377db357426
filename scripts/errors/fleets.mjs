// What a fleet says.
import * as fleet from "./fleetSamples.mjs";

export const sections = [
  {
    title: "Fleets",
    about: "A `PasswordRotationFleet` says of its inputs and databases what stands above, and besides:",
    entries: [
      [
        [
          await fleet.ofList("sessions"),
          await fleet.ofList([5]),
          await fleet.ofList(["sessions", "sessions"]),
          await fleet.ofList({ a: "sessions", b: "sessions" }),
        ],
        "Said by the program. Nothing was sent.",
      ],
      [await fleet.ofUnknownList(), "Said by the program, in a preview. Nothing was sent."],
      [
        [
          await fleet.ofInputs({ databases: "sessions" }),
          await fleet.ofInputs({ databases: [5] }),
          await fleet.ofInputs({ databases: [{ databaseId: "sessions", version: true }] }),
          await fleet.ofInputs({ databases: [], concurrency: 0 }),
        ],
        "The same rules as for a single database, which is named.",
      ],
      [
        await fleet.ofFailures(),
        "The run fails once all databases were tried. What was reset is saved; the next `up` tries the others again. The output `databases` has the reason of each.",
      ],
      [await fleet.ofMoreFailures(), "The same, where more than twenty failed."],
      [
        await fleet.ofNotTried(),
        "The `problem` of such a database in the output `databases`. Nothing was sent for it.",
      ],
      [fleet.notices().split("\n"), "Lines of a preview, one for each reason. No errors."],
      [await fleet.ofDamagedState(), "The state was changed by hand."],
    ],
  },
];
