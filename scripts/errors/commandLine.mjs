// What the commands of `rekey` say themselves.
import * as command from "./commandSamples.mjs";

const { healthy, refused, gone } = await command.ofPlatform();
const { ofCommand, ofSave, ofSettings, ofStackFile } = command;
const local = (...args) => ofCommand(["local", ...args]);

export const sections = [
  {
    title: "`rekey local`: its arguments",
    about:
      "Said after `error:`; nothing was changed. What a command of `pulumi` would say in the same case, is said in the same words.",
    entries: [
      [
        [await local("up", "--target", "x"), await local("wathc")],
        "An option or a command of another tool, or a misspelt one.",
      ],
      [await local("up", "--parallel", "0"), "Commander, which reads the arguments, names the option."],
      [await local("up", "--json"), "Nobody could answer the question whether to go on: a pipeline passes `--yes`."],
      [
        [await local("config", "get", "x"), await local("config", "rm", "x")],
        "`rekey local config` lists the settings; a name alone belongs to the project.",
      ],
      [await local("output", "x"), "`rekey local output` lists the outputs of the last `up`."],
      [
        [await local("import", "--file", "/etc/state.missing"), await local("import", "--file", "/dev/null")],
        "The file is not there, or holds something else.",
      ],
      [
        await local("export", "--file", "/dev/null/state.json"),
        "The folder is not there, or belongs to somebody else.",
      ],
      [command.cancelling, "Said at the first `^C`. Let it finish: a reset that runs is then written down."],
    ],
  },
  {
    title: "`rekey platform save`",
    about: "Said after `error:`. A file that was there stays as it was.",
    entries: [
      [
        [
          await ofCommand(["platform", "save"], { REKEY_BASE_URL: "" }),
          await ofCommand(["platform", "save"], {
            REKEY_BASE_URL: "localhost",
            REKEY_USERNAME: "you@example.com",
            REKEY_PASSWORD: "secret",
          }),
        ],
        "The environment says which platform, and who asks.",
      ],
      [await ofSave(), "The platform has ended, or listens elsewhere."],
      [[await ofSave(401, ""), await ofSave(404, ""), await ofSave(200, "<html>")], "Somebody else answered."],
      [await ofSave(200, "{}", ["/dev/null/state.yaml"]), "The folder is not there, or belongs to somebody else."],
    ],
  },
  {
    title: "`rekey doctor`",
    about:
      "Each line after `WRONG` says what is wrong, and the line below it how to mend that. Nothing is changed by looking; of settings it says what stands in *Settings*, too.",
    entries: [
      [command.ofOldNode(), "Older versions of Node cannot load the package."],
      [await command.ofNoProject(), "The folder is none of a Pulumi project, or of one in another language."],
      [await command.ofInstalled({}), "Nothing is installed. Without the CLI all can be well: it is no error."],
      [
        await command.ofInstalled({
          "node_modules/@pulumi/pulumi": "2.0.0",
          "node_modules/pulumi-rekey": "1.0.0",
          "node_modules/caches": "1.0.0",
          "node_modules/caches/node_modules/pulumi-rekey": "0.9.0",
        }),
        "What is installed is of another version, or there twice.",
      ],
      [await ofStackFile(undefined), "All settings may stand in the environment: it is no error."],
      [await ofStackFile("config: ["), "What stands in the file is not shown: it may be secret."],
      [
        [await ofStackFile(command.secretFile()), await ofStackFile(command.secretFile(false))],
        "The doctor reads secrets that are encrypted with a passphrase; others it leaves unchecked.",
      ],
      [
        [
          await ofStackFile(command.secretFile(), { PULUMI_CONFIG_PASSPHRASE: "wrong" }),
          await ofStackFile(command.secretFile(), { PULUMI_CONFIG_PASSPHRASE: "right" }),
        ],
        "The passphrase is not the stack's, or the secret was copied from another stack.",
      ],
      [command.ofMissing(), "The one way to set it, and the other."],
      [
        [command.ofNeedless(), ...ofSettings({ "rekey:password": { secret: true } })],
        "No errors: it could not be looked at, or need not be there.",
      ],
      [ofSettings({ "rekey:deadlineSeconds": "soon" }), "The setting's own message, and where it was found."],
      [ofSettings({ "rekey:password": "secret" }), "Whoever reads the file has the password."],
      [ofSettings({ "rekey:queueurl": "https://queue.example.com" }), "Most often the name is misspelt."],
      [healthy, "No errors: this is how it should be."],
      [refused, "The queue answered, and takes the token for a wrong one."],
      [gone[0], "What stands in *No connection*, of a connection that the doctor opened for itself."],
    ],
  },
];
