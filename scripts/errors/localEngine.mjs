// What the local engine says, in the order in which one may meet it.
import * as engine from "./engineSamples.mjs";

export const sections = [
  {
    title: "The local engine: the project",
    about: "Said by `rekey local`, after `error:`, before anything is done; nothing was changed.",
    entries: [
      [[await engine.ofNoProjectAbove(), await engine.ofNoProject()], "The folder is none of a Pulumi project."],
      [
        [await engine.ofProject("runtime: nodejs"), await engine.ofProject("name: [")],
        "The file is no YAML, or a field of it is missing or of another kind.",
      ],
      [
        await engine.ofProject("name: caches\nruntime: nodejs\nmain: src"),
        "`main` names the program's folder or file, from the project's folder.",
      ],
      [
        await engine.ofProject("name: caches\nruntime: python"),
        "The local engine is for tests and quickstarts, and refuses by name what it does not do: other runtimes, packages, options of resources, formats of the state.",
      ],
      [await engine.ofStack({ stack: "a/b" }), "The name becomes a part of file names."],
      [await engine.ofNoSdk(), "The program's own `@pulumi/pulumi` is what runs it."],
      [await engine.ofNoNode(), "The folder is gone, or the machine has no memory for a process."],
    ],
  },
  {
    title: "The local engine: settings and secrets",
    about: "Said by `rekey local` before anything is done. A secret's value is never shown.",
    entries: [
      [
        await engine.ofStack({}),
        "Secrets are encrypted with the stack's passphrase, in its settings and its state. An empty one is set, too.",
      ],
      [
        await engine.ofStack({ env: { PULUMI_CONFIG_PASSPHRASE_FILE: "/etc/passphrase.missing" } }),
        "The file must be there where the run is.",
      ],
      [await engine.ofWrongPassphrase(), "The stack was made with another one."],
      [await engine.ofBrokenSalt(), "It stands in `Pulumi.<stack>.yaml`. Without it, the passphrase opens nothing."],
      [
        [await engine.ofSettings("config: ["), await engine.ofSettings("config: 5")],
        "The settings' file is no YAML, or of another kind.",
      ],
      [
        [
          await engine.ofSettings("config: { rekey:password: { secure: v1:YQ==:YQ== } }"),
          await engine.ofSettings("config: { rekey:password: { secure: v1:YQ==:YQ== } }", false),
        ],
        "It was copied from another stack, or changed by hand.",
      ],
      [await engine.ofKey("a:b:c"), "`rekey:baseUrl` is one; a name alone belongs to the project."],
      [await engine.ofUnwritableSettings(), "The disk is full, or the folder belongs to somebody else."],
    ],
  },
  {
    title: "The local engine: the state",
    about: "Said by `rekey local` of the files below `--state-dir`.",
    entries: [
      [await engine.ofLocked(), "Two operations at once would both reset what is due."],
      [[await engine.ofLock("{}"), await engine.ofLock("")], "The file was not written by the engine."],
      [
        [await engine.ofUnwritableFolder(), await engine.ofNoLinks()],
        "The state could not be saved later: so nothing was begun.",
      ],
      [
        await engine.ofUnwritableState(),
        "Before the first step nothing was changed. Amid an operation, what was done after the last writing is lost.",
      ],
      [
        [
          await engine.ofStateFile(""),
          await engine.ofState([{ name: "sessions", urn: 5 }]),
          await engine.ofState([{ name: "sessions", dependencies: [engine.urn("carts")] }]),
          await engine.ofState([{ name: "sessions" }, { name: "sessions" }]),
          await engine.ofState([{ name: "sessions", inputs: { a: engine.sealed({ ciphertext: "v1:YQ==:YQ==" }) } }]),
          await engine.ofState([{ name: "sessions", inputs: { a: engine.sealed({}) } }]),
        ],
        "The state was changed by hand, or is of another stack.",
      ],
      [
        [
          await engine.ofState([], 4),
          await engine.ofState([{ name: "b", type: "aws:s3/bucket:Bucket" }]),
          await engine.ofState([{ name: "sessions", external: true }]),
        ],
        "The state is one that only the real engine can manage.",
      ],
    ],
  },
  {
    title: "The local engine: an operation",
    about: "Said among the diagnostics of an operation, beside what the provider says above.",
    entries: [
      [
        engine.ofPending().split("\n"),
        "The engine was killed amid an operation. A create that was interrupted may have reset the password: the next `up` resets it once more.",
      ],
      [
        await engine.ofHost("process.exit(1)"),
        "The process of the providers could not start: most often the program's dependencies are not all installed.",
      ],
      [
        (await engine.ofHost("console.log(1); setTimeout(() => {}, 1000);")).replace(/\(.*\)/, "(…)").split("\n"),
        "It was killed, or ran out of memory.",
      ],
    ],
  },
];
