import assert from "node:assert/strict";
import { kindInList, kindsOfAccount, pluralOf } from "../../../provider/domain/secretKind";
import { Folder } from "../../support/folder";
import { environmentOf, settingsOf } from "../../support/project";
import { Fixture, stateOf } from "./fixture";

const key = "canary-management-password";
const listPath = "/v2/redis/databases";
const queueRead = "GET /v2/globalParallelism";
const usersRead = "GET /v2/qstash/users";
const oldNode = `Object.defineProperty(process.versions, "node", { value: "20.18.3" });
  Object.defineProperty(process.features, "require_module", { value: undefined });`;

interface Row {
  readonly title: string;
  /** Settings beside those of a healthy project. */
  readonly config?: Parameters<Fixture["configure"]>[0];
  readonly environment?: NodeJS.ProcessEnv;
  /** The exported state of the stack. Default: it rotates the password of a database. */
  readonly state?: string;
  readonly args?: readonly string[];
  /** What the platform responds to a path. */
  readonly shows?: { readonly path: string; readonly status?: number; readonly body?: unknown };
  /** Lines that are printed. The exit code is 1 if one of them is an error, or says that the coverage is not full. */
  readonly prints: readonly RegExp[];
  /** The requests. Default: they are not compared. */
  readonly sent?: readonly string[];
}

describe("pulumi-rekey doctor", function () {
  if (process.platform === "win32") {
    return void it.skip("all (skipped: there is no POSIX shell for the stand-in of the pulumi CLI)");
  }
  let fixture: Fixture;
  beforeEach(async () => {
    const databases = ["db-sessions", "db-carts", "db-named"].map((database_id) => {
      // Names come from elsewhere.
      const database_name = database_id === "db-named" ? key : `cache ${database_id}`;
      return { database_id, database_name, creation_time: Date.parse("2025-07-14") / 1000 };
    });
    fixture = await Fixture.start({ username: "owner@example.com", password: key, databases });
  });
  afterEach(() => fixture.stop());

  const names = ["baseUrl", "queueUrl", "username", "password", "queueToken"];
  const usersOnly = stateOf("app", "app", "AclUserRotation");
  const noAccount = Object.fromEntries(names.map((name) => [`rekey:${name}`, undefined]));

  const rows: readonly Row[] = [
    {
      title: "finds nothing in a healthy project, and prints the source of each setting",
      config: { "rekey:username": undefined, "rekey:resetPasswordPath": "/reset/{id}" },
      environment: { REKEY_USERNAME: "owner@example.com" },
      prints: [
        /^ok {5}Node is \d+\./,
        /^ok {5}The project is program, and the stack is dev\.$/,
        /^ok {5}@pulumi\/pulumi is 3\.\d+\.\d+\.$/,
        /^ok {5}pulumi-rekey is \d+\.\d+\.\d+, in /,
        /^ok {5}rekey:baseUrl is http:\S+ \(from the stack's configuration\)\.$/,
        /^ok {5}rekey:username is owner@example\.com \(from REKEY_USERNAME\)\.$/,
        /^ok {5}rekey:password is set \(from the stack's configuration\)\.$/,
        /^ok {5}rekey:resetPasswordPath is \/reset\/\{id\} \(from/,
        /^ok {5}rekey:deadlineSeconds is 60 \(default\)\.$/,
        /^ok {5}Not set: rekey:platform, rekey:queueUserId, .*rekey:proxy, rekey:caFile\.$/,
        /^ok {5}A connection to http:\S+ was opened\.$/,
        /^- {6}rekey:username and rekey:password were not tried: that needs rekey:databaseListPath\.$/,
        /^ok {5}The queue accepted the token\.$/,
        /^No problem was found\.$/,
      ],
      sent: [queueRead],
    },
    {
      title: "reads the list of the databases to try the management credentials",
      config: { "rekey:databaseListPath": listPath },
      prints: [/^ok {5}The platform accepted rekey:username and rekey:password, and lists 3 databases\.$/],
      sent: [queueRead, usersRead, `GET ${listPath}`],
    },
    {
      title: "finds a wrong key, and a wrong token",
      config: {
        "rekey:databaseListPath": listPath,
        "rekey:password": { secret: "another" },
        "rekey:queueToken": { secret: "another" },
      },
      prints: [
        /^WRONG {2}A read of the list of databases failed: .*401/,
        /^ {7}Check rekey:username and rekey:password/,
        /^WRONG {2}A read of the queue failed: .*401/,
        /^ {7}Check rekey:queueToken/,
        /^2 of \d+ checks found a problem\.$/,
      ],
    },
    {
      title: "finds settings in plain text, those that do not exist or cannot be used, and a proxy that is not reached",
      config: {
        "rekey:baseUrl": "https://127.0.0.1:1",
        "rekey:proxy": `http://${key}@127.0.0.1:1`,
        "rekey:queueToken": "canary",
        "rekey:queueurl": "a mistake",
        "rekey:deadlineSeconds": "soon",
      },
      environment: { REKEY_USERNAM: "another" },
      prints: [
        /^WRONG {2}rekey:proxy is stored in plain text in the stack's configuration\.$/,
        /^ {7}Run `pulumi config set --secret rekey:proxy`\. If others/,
        /^WRONG {2}rekey:queueToken is stored in plain text/,
        /^WRONG {2}rekey:queueurl is not a setting .*rekey:queueUrl.*`pulumi config rm rekey:queueurl`\.$/,
        /^WRONG {2}REKEY_USERNAM is not a setting .*REKEY_USERNAME/,
        /^WRONG {2}rekey:deadlineSeconds must be a number of seconds \(from the stack's configuration\)\.$/,
        /^WRONG {2}A connection to rekey:baseUrl failed: .*proxy could not be reached/,
        /^WRONG {2}A read of the queue was not tried: rekey:deadlineSeconds/,
      ],
      sent: [],
    },
    {
      title: "names what the environment has in an unused variable",
      config: { "rekey:queueUrl": "http://127.0.0.1:1" },
      environment: { HTTPS_PROXY: `http://user:${key}@127.0.0.1:1` },
      prints: [
        /^- {6}HTTPS_PROXY has no effect: if a proxy is needed, set rekey:proxy\.$/,
        /^WRONG {2}A read of the queue failed: .*ECONNREFUSED/,
        /^ {7}.* then run again\. HTTPS_PROXY has no effect/,
      ],
    },
    {
      title: "finds what is missing of what the resources of the stack need",
      config: noAccount,
      prints: [
        /^WRONG {2}rekey:baseUrl, rekey:username, and rekey:password are not set: needed for rotations of an account's secrets\.$/,
        /^ {7}.*REKEY_BASE_URL.*REKEY_USERNAME.*REKEY_PASSWORD/,
        /^- {6}rekey:queueUrl and rekey:queueToken are not set: .* and signing keys, which the stack does not have\.$/,
      ],
      sent: [],
    },
    {
      title: "asks for the queue's token if a resource of the stack needs it",
      config: { "rekey:queueToken": undefined },
      state: stateOf("keys", "signing-keys", "SigningKeyRotation"),
      prints: [/^WRONG {2}rekey:queueToken is not set: needed for flow control and signing keys\.$/],
    },
    {
      title: "asks for no account in a stack with Redis users only",
      config: noAccount,
      state: usersOnly,
      prints: [/^- {6}rekey:baseUrl, .* which the stack does not have\.$/, /^No problem was found\.$/],
      sent: [],
    },
    {
      title: "says how to set an account while the stack has no resources",
      config: noAccount,
      environment: { NO_STATE: "true" },
      prints: [/^- {6}rekey:baseUrl, .* needed for rotations of an account's secrets\.$/, /^ {7}.*REKEY_BASE_URL/],
    },
    {
      title: "does not ask for the token of a queue that only has an address",
      config: { "rekey:queueToken": undefined },
      prints: [/^- {6}rekey:queueToken is not set: needed for flow control/, /^No problem was found\.$/],
    },
    {
      title: "checks only the environment if the configuration cannot be read, and prints one line of the error",
      environment: { REFUSAL: `error: incorrect passphrase:\n  ${key}` },
      prints: [
        /^WRONG {2}The stack's configuration was not read: incorrect passphrase\. Only the environment was read\.$/,
        /^ {7}.*PULUMI_CONFIG_PASSPHRASE.*`pulumi config --show-secrets --stack dev`/,
        /^- {6}rekey:baseUrl, .* are not set/,
        /^1 of \d+ checks/,
      ],
    },
    {
      title: "works without a pulumi CLI",
      environment: { PATH: "" },
      prints: [/^- {6}The stack's configuration was not read: there is no pulumi CLI on PATH\. Only/],
    },
    {
      title: "finds an old Node before it loads what that cannot load",
      environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(oldNode)}` },
      prints: [
        /^error: Node 20\.18\.3 is too old: pulumi-rekey needs Node 20\.19\+ or 22\.12\+\. Nothing was checked\. Install/,
      ],
      sent: [],
    },
    {
      title: "lists each secret of the account with --coverage, and what the state knows of it",
      config: { "rekey:databaseListPath": listPath },
      args: ["--coverage"],
      prints: [
        /^database +db-sessions +cache db-sessions +20\S+Z +PasswordRotation "sessions" +mark only$/,
        ...kindsOfAccount.map(
          (kind) => new RegExp(`^${kindInList(kind)} .* +(created 2025-07-14T00:00:00Z|unknown) +- +-$`),
        ),
        /^database +db-carts +cache db-carts /,
        /^queue user +00000000-0000-4000-8000-000000000001 +eu-central-1 /,
        /^Compared with the state of dev\.$/,
      ],
      sent: kindsOfAccount
        .map(({ paths }) => paths?.list ?? paths?.read)
        .map((path) => `GET ${typeof path === "string" ? path : listPath}`)
        .sort(),
    },
    {
      title: "finds what is older than a date, and prints JSON",
      config: { "rekey:databaseListPath": listPath },
      args: ["--coverage", "--since", "2026-04-19", "--json"],
      prints: [/^ {2}"covered": false,$/, /^ {6}"age": "newer"$/, /^ {6}"age": "older"$/, /^ {6}"age": "unknown"$/],
    },
    {
      title: "prints what cannot be listed, and why",
      config: { "rekey:databaseListPath": "/v2/nowhere", "rekey:queueToken": undefined },
      args: ["--coverage"],
      prints: [
        /^Not listed: databases, because the platform responded with 401\b.* Check rekey:username and rekey:password/,
        /^Not looked at: signing keys, because rekey:queueToken is not set\.$/,
      ],
    },
    {
      title: "does not cover signing keys that the stack rotates, if the settings of the queue are missing",
      config: { "rekey:databaseListPath": listPath, "rekey:queueToken": undefined },
      state: stateOf("keys", "signing-keys", "SigningKeyRotation"),
      args: ["--coverage"],
      prints: [/^Not listed: signing keys, because rekey:queueToken is not set\. .*Run `pulumi config/],
    },
    {
      title: "covers Redis users without an account",
      config: noAccount,
      state: usersOnly,
      args: ["--coverage"],
      prints: [
        /^user +app .* AclUserRotation "app"/,
        ...kindsOfAccount.map((kind) => {
          const missing = { management: "rekey:baseUrl, .*", queue: "rekey:queueUrl and rekey:queueToken" };
          const why = missing[kind.service ?? assert.fail()];
          return new RegExp(`^Not looked at: (.*, )?(and )?${pluralOf(kind)},.* because ${why} are not set\\.$`);
        }),
        /^1 secret\.$/,
      ],
      sent: [],
    },
    {
      title: "covers nothing without settings and resources",
      config: noAccount,
      environment: { NO_STATE: "true" },
      args: ["--coverage"],
      prints: [/^0 secrets\. There may be others, because not everything could be listed\.$/],
      sent: [],
    },
    {
      title: "lists the account if the state cannot be read, and prints why",
      config: { "rekey:databaseListPath": listPath },
      environment: { NO_STATE: "true" },
      args: ["--coverage"],
      prints: [
        /^The state of dev was not read: it has none\.$/,
        /^database +db-carts +cache db-carts +created \S+Z$/,
        /There may be others, because not everything could be listed\.$/,
      ],
    },
    {
      title: "lists the account if files are not states, and prints why",
      config: { "rekey:databaseListPath": listPath },
      args: ["--coverage", "--state", "a.json", "--state", "package.json"],
      prints: [
        /^database +db-carts /,
        /^--state a\.json cannot be read \(ENOENT\)$/,
        /^--state package\.json is not an exported state: `pulumi stack export/,
        /could be listed\.$/,
      ],
    },
    {
      title: "says that an API key can only read, if the platform shows it empty tokens",
      config: { "rekey:databaseListPath": listPath },
      shows: { path: "/v2/qstash/users", body: [{ id: "u1", token: "", read_only_token: "" }] },
      prints: [
        /^ok {5}The platform accepted rekey:username and rekey:password/,
        /^WRONG {2}rekey:password seems to be a read-only API key: the platform shows an empty token for a queue user\.$/,
        /^ {7}The platform refuses resets with it \(403\): use an API key that is not read-only\.$/,
      ],
    },
    {
      title: "does not know whether an API key can only read, if the platform has no users of a queue",
      config: { "rekey:databaseListPath": listPath },
      shows: { path: "/v2/qstash/users", status: 404 },
      prints: [/^- {6}rekey:password may be read-only, which could not be checked: the platform responded with 404\b/],
    },
    { title: "has a help", args: ["--help"], prints: [/^Example:$/, /^Exit codes:$/] },
    ...(
      [
        [/^error: .*--colour/, "--colour"],
        [/^error: the only command is `pulumi-rekey doctor`/, "again"],
        [/^error: --since needs --coverage/, "--since", "2026-04-19"],
        [
          /^error: --since must be a date \(2026-04-19\), or a date and time with a zone/,
          "--coverage",
          "--since",
          "yesterday",
        ],
        [
          /^error: --since must not be more than five minutes in the future: .* it is 20/,
          "--coverage",
          "--since",
          "9999-01-01",
        ],
        [/^error: --stack can be repeated only with --coverage/, "--stack", "a", "--stack", "b"],
        [/^error: --state needs --coverage/, "--state", "a.json"],
      ] as const
    ).map(([says, ...args]): Row => {
      return {
        title: `refuses ${args.join(" ")}`,
        args,
        prints: [says, /^Run `pulumi-rekey doctor --help`/],
        sent: [],
      };
    }),
  ];
  for (const { title, config, environment, state, args = [], shows, prints, sent } of rows) {
    it(title, async () => {
      if (state) fixture.bin.write("state.json", state);
      if (shows) fixture.platform.failNext({ status: 200, ...shows, body: JSON.stringify(shows.body) });
      fixture.configure({ ...settingsOf(fixture.platform), ...config });
      const found = await fixture.doctor(args, environment);
      for (const line of prints) assert.match(found.output, new RegExp(line, "m"));
      const fails = prints.some(({ source }) => /WRONG|error|older|Not listed|could be listed/.test(source));
      assert.equal(found.code, fails ? 1 : 0, found.output);
      if (sent) assert.deepEqual(found.sent.sort(), sent);
    });
  }

  it("uses the stack of --stack, else of PULUMI_STACK, else the selected one", async () => {
    fixture.configure({});
    const stackOf = async (environment: NodeJS.ProcessEnv, ...args: string[]) => {
      const { output } = await fixture.doctor(args, { SELECTED_STACK: "selected", ...environment });
      return /and the stack is (.*)\.$/m.exec(output)?.[1];
    };
    assert.equal(await stackOf({}), "selected");
    assert.equal(await stackOf({ PULUMI_STACK: "other" }), "other");
    assert.equal(await stackOf({ PULUMI_STACK: "other" }, "--stack", "named"), "named");
  });

  it("compares several stacks and exported states, and leaves those without a state out", async () => {
    fixture.configure({ ...settingsOf(fixture.platform), "rekey:databaseListPath": listPath });
    fixture.bin.write("state-shared.json", stateOf("carts", "db-carts"));
    fixture.bin.write("state-odd.json", "canary");
    const file = fixture.project.write("exported.json", stateOf("named", "db-named"));
    const stacks = ["dev", "shared", "odd"].flatMap((name) => ["--stack", name]);
    const { code, output } = await fixture.doctor(["--coverage", ...stacks, "--state", file]);
    for (const line of [
      /^database +db-sessions .*PasswordRotation "sessions" in dev +mark only$/m,
      /^database +db-carts .*PasswordRotation "carts" in shared +mark only$/m,
      /^database +db-named .*PasswordRotation "named" in \S+exported\.json +mark only$/m,
      /^The state of odd was not read: the pulumi CLI printed no state\.$/m,
    ]) {
      assert.match(output, line);
    }
    assert.ok(!output.includes("canary"), output);
    assert.equal(code, 1, "one was not read");
  });

  it("lists the account of the environment in a folder without a project, and compares what is given", async () => {
    const folder = new Folder();
    folder.write("exported.json", stateOf("carts", "db-carts"));
    const environment = { ...environmentOf(fixture.platform), REKEY_DATABASE_LIST_PATH: listPath };
    const { code, output } = await fixture.doctor(
      ["--coverage", "--state", "exported.json"],
      environment,
      folder.directory,
    );
    assert.match(output, /^database +db-sessions +cache db-sessions +created \S+ +- +-$/m);
    assert.match(output, /^database +db-carts .*PasswordRotation "carts" +mark only$/m);
    assert.match(output, /^Only the environment was read: there is no Pulumi\.yaml in .* or in a folder above it\.$/m);
    assert.equal(code, 0, output);
    const checked = await fixture.doctor([], environment, folder.directory);
    assert.match(checked.output, /^error: there is no Pulumi\.yaml in .* or in a folder above it$/m);
    assert.deepEqual([checked.code, checked.sent], [1, []]);
    folder.remove();
  });
});
