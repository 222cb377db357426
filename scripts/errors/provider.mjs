// What the provider says, in the order in which one may meet it.
import * as s from "./samples.mjs";

const notSent = (more) => s.ofReset({ delivery: "not sent", ...more });
const rejected = (status, body = "", more = {}) => s.ofReset({ delivery: "rejected", status, body, ...more });
const maybe = (more) => s.ofReset({ delivery: "maybe applied", ...more });
const answered = (body) => ({ delivery: "answered", body });

export const sections = [
  {
    title: "Inputs",
    about:
      "Said by `pulumi preview` and `pulumi up`, before anything is sent. The same rules hold for `FlowControlReset`.",
    entries: [
      [
        [
          await s.ofInputs({}),
          await s.ofInputs({ databaseId: " " }),
          await s.ofInputs({ databaseId: ".." }),
          await s.ofInputs({ databaseId: "\ud800" }),
          await s.ofInputs({ databaseId: 5 }),
        ],
        "The id (or the key) becomes a part of an address. Copy it from the platform as it is.",
      ],
      [
        [
          await s.ofInputs({ databaseId: "sessions", version: true }),
          await s.ofInputs({ databaseId: "sessions", triggers: "a" }),
          await s.ofInputs({ databaseId: "sessions", triggers: { commit: [] } }),
          await s.ofInputs({ databaseId: "sessions", initialRotation: null, rotateEvery: 30 }),
          await s.ofInputs({ databaseId: "sessions", version: Infinity }),
          await s.ofInputs({ databaseId: "sessions", initialRotation: "no" }),
        ],
        "The input has another type than the program's language would allow: it comes from configuration or from plain JavaScript.",
      ],
      [
        [
          await s.ofInputs({ databaseId: "sessions", rotateEvery: "monthly" }),
          await s.ofInputs({ databaseId: "sessions", rotateEvery: "P0D" }),
        ],
        "`rotateEvery` takes `30d`, `12h`, `PT90M`, `P1M` and the like.",
      ],
      [await s.ofInputs({ databaseId: "sessions", verison: 2 }), "Most often the name of an input is misspelt."],
      [
        await s.ofInputs({
          databaseId: "sessions",
          owner: "urn:pulumi:dev::caches::pulumi-nodejs:dynamic/rekey:PasswordRotation::two",
          otherOwners: ["urn:pulumi:dev::caches::pulumi-nodejs:dynamic/rekey:PasswordRotation::one"],
        }),
        "Each reset of the one would make the password that the other one keeps useless.",
      ],
      [
        await s.ofKey(answered(""), (flowControl) => flowControl.get("")),
        "The same, of a data source's argument. It is checked when the data source is called.",
      ],
    ],
  },
  {
    title: "Settings",
    about:
      "Said when a setting is first needed: `preview` needs none for resources. Every setting stands in the README; `rekey doctor` checks all of them at once.",
    entries: [
      [
        await s.ofSetting("baseUrl", undefined),
        "It is neither in the stack's configuration nor in the environment of the run. An empty variable counts as not set.",
      ],
      [
        [
          await s.ofSetting("baseUrl", "api"),
          await s.ofSetting("baseUrl", "ftp://api.example.com"),
          await s.ofSetting("baseUrl", "http://api.example.com"),
          await s.ofSetting("baseUrl", "https://you:secret@api.example.com"),
          await s.ofSetting("baseUrl", "https://api.example.com/?a=b"),
        ],
        "`rekey:baseUrl` and `rekey:queueUrl` are addresses alone: credentials have settings of their own, and cross no wire in plain text.",
      ],
      [
        [
          await s.ofSetting("username", ""),
          await s.ofSetting("username", "a:b"),
          await s.ofSetting("password", "a\nb"),
          await s.ofSetting("queueToken", "a b"),
        ],
        "HTTP cannot carry such a value. Often a line break was copied with it. A secret's value is never shown.",
      ],
      [
        [
          await s.ofSetting("resetPasswordPath", "v2/{id}"),
          await s.ofSetting("resetPasswordPath", "/v2/x"),
          await s.ofSetting("flowControlResetAction", "a/b"),
        ],
        "What the platform's documentation shows as the path of a reset, with `{id}` in the place of the database's id; of a flow-control reset, its last part.",
      ],
      [
        [
          await s.ofSetting("deadlineSeconds", "soon"),
          await s.ofSetting("deadlineSeconds", "0"),
          await s.ofSetting("deadlineSeconds", "100000"),
          await s.ofSetting("maxConcurrency", "many"),
          await s.ofSetting("maxConcurrency", "0"),
          await s.ofSetting("maxResetsPerRun", "1.5"),
          await s.ofSetting("maxResetsPerRun", "-1"),
          await s.ofSetting("requestsPerSecond", "0.000001"),
        ],
        "A number in the named range.",
      ],
      [
        await s.ofSetting("proxy", "proxy:3128"),
        "`http://host:port` or `https://host:port`; credentials may stand in it.",
      ],
      [
        [
          await s.ofSetting("caFile", "/etc/ca.pem.missing"),
          await s.ofSetting("caFile", "/dev/null"),
          await s.ofSetting("caFile", "/etc/hosts"),
        ],
        "The file must be there where `up` runs, in the pipeline too, and hold what begins with `-----BEGIN CERTIFICATE-----`.",
      ],
    ],
  },
  {
    title: "No connection: nothing was sent",
    about:
      "The request cannot have arrived, so that nothing has changed. Of a flow-control key it says *The counters were not reset.*, of a reading *Nothing was changed.*",
    entries: [
      [await notSent({ code: "ENOTFOUND" }), "The name in the address does not exist, or not where `up` runs."],
      [
        [
          await notSent({ code: "ECONNREFUSED", attempts: 3 }),
          await notSent({ code: "EHOSTUNREACH", attempts: 3 }),
          await notSent({}),
        ],
        "It was tried several times. The platform is down, the port is wrong, or a firewall is in the way.",
      ],
      [await notSent({ code: "deadline" }), "The same, without any answer, until `rekey:deadlineSeconds` were over."],
      [
        await notSent({ code: "SELF_SIGNED_CERT_IN_CHAIN" }),
        "The certificate is not one that this machine trusts, or of another host.",
      ],
      [
        [await notSent({ proxy: "unreachable" }), await notSent({ proxy: 407 })],
        "What failed is the proxy of `rekey:proxy`, not the platform.",
      ],
      [
        await s.ofDeadEngine(),
        "The process that runs the provider outlived its engine (a killed `pulumi up`), and stopped by itself.",
      ],
    ],
  },
  {
    title: "The platform refused: nothing was changed",
    about: "The platform answered, and did not do it. Its own words follow the status, without any of your secrets.",
    entries: [
      [
        [await rejected(401, '{"error":"Unauthorized"}'), await rejected(403)],
        "The credentials are wrong, or may not do this.",
      ],
      [
        await rejected(404, '{"error":"database not found"}'),
        "The database does not exist, or the platform's path is another than the default. A flow-control key that a data source asks for and the platform does not know is no error.",
      ],
      [
        [await rejected(429), await rejected(429, "", { retryAfter: 90_000 })],
        "Too many requests. Rekey waited as the platform asked, as long as the deadline allowed.",
      ],
      [await rejected(301), "The address has moved. To follow could send your credentials to somebody else."],
      [await rejected(400, '{"error":"database is being moved"}'), "The platform says why."],
    ],
  },
  {
    title: "Nobody knows: the password may have been changed",
    about:
      "The request arrived, or may have, and its answer did not. A password reset is then never repeated by itself; the stack says `outcome: unknown`. A flow-control reset is repeated, because that does no harm.",
    entries: [
      [
        await s.ofLostReset(),
        "The former outputs are kept, the resource is saved, and the run fails. The next `up` resets once more, whatever the trigger is, and so has a password that is known.",
      ],
      [await maybe({ code: "deadline" }), "No answer came in time."],
      [
        await maybe({ status: 503, attempts: 1 }),
        "The platform failed, and may have done it before it did. Its raw text is not shown: it may hold the new password.",
      ],
      [await maybe({ code: "too large" }), "Something else than the platform answered, most likely."],
      [
        [await s.ofReset(answered("<html>")), await s.ofReset(answered('{"database_id":"carts"}'))],
        "The answer says that it was done, and is not what a reset answers: is that address the platform's?",
      ],
      [
        await s.ofKey({ delivery: "maybe applied", status: 503, attempts: 3 }, (one) => one.reset("orders")),
        "Run again: it does no harm.",
      ],
      [
        await s.ofLostOutcome(),
        "Said by the program after the error above where the stack was too large to say it otherwise: so that no consumer takes the former password for the new one.",
      ],
      [await s.ofBug(), "A mistake of ours. What it knew is left out, because it may hold the new password."],
    ],
  },
  {
    title: "A reading that cannot be understood",
    about: "Said of data sources. Nothing was changed: it was only read. A wrong address is the most likely reason.",
    entries: [
      [
        [
          await s.ofKey(answered("<html>")),
          await s.ofKey({ ...answered(""), status: 204 }),
          await s.ofKey(answered("[]")),
          await s.ofKey(answered("{}")),
          await s.ofKey(answered('{"flowControlKey":"carts"}')),
          await s.ofKey(answered('{"flowControlKey":"orders","waitListSize":"3","rateCount":9007199254740993}')),
        ],
        "The answer is JSON of another kind than the interface says, or no JSON.",
      ],
      [
        [
          await s.ofList(answered("5")),
          await s.ofList(answered("[{}]")),
          await s.ofKey(answered("{}"), (one) => one.globalParallelism()),
        ],
        "The same, of the list of keys and of the global parallelism.",
      ],
      [
        await s.ofKey({ delivery: "maybe applied", code: "ECONNRESET", attempts: 3 }),
        "The reading failed three times.",
      ],
    ],
  },
  {
    title: "Rekey refuses",
    about: "Said instead of sending a reset that should not be sent without a person's look. Nothing was changed.",
    entries: [
      [
        await s.ofRefusal(s.unconfirmed(3)),
        "Each attempt may have changed the password. Something is wrong that trying again does not mend.",
      ],
      [
        await s.ofRefusal({}, 3),
        "Many databases at once are due, or a change touched more of them than was meant. What was reset before stays reset.",
      ],
      [
        await s.ofRefusal({ appliedTrigger: "2:abc" }),
        "The state was written by a newer version of this package, or changed by hand. Rekey does not take that for a reason to reset.",
      ],
      [await s.ofDamagedState(), "The state was changed by hand, or two resources were mixed up in it."],
    ],
  },
  {
    title: "Lines of a preview, and of an `up`",
    about: "No errors: they say what a changed trigger would not explain.",
    entries: [
      [
        s.noticeOf({ rotatedAt: "2026-10-01T12:00:00.000Z" }, { version: 1, rotateEvery: "30d" }),
        "`up` resets it now. Shown by each preview until then.",
      ],
      [s.noticeOf(s.unconfirmed(1)), "`up` resets it, whatever its trigger is."],
      [s.noticeOf(s.unconfirmed(3)), "`up` will fail with the same words."],
      [
        await s.noticeOfAnswer(s.oddAnswer),
        "The password was reset, and is saved where it was readable. Each line names a field of the record; its value is not shown.",
      ],
    ],
  },
  {
    title: "A mistake of ours",
    about: "Please report it.",
    entries: [[await s.ofStrangeBug(), "Nothing more is known than what it says."]],
  },
];
