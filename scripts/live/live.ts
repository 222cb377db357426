import { startPlatform } from "../../local/platform/index";
import { RekeyError } from "../../provider/domain/errors";
import { pathPartProblem } from "../../provider/records/fields";
import { type Settings } from "../../provider/settings/settings";
import { type Account, changeOnce, compare, readAccount, type Subject, subjects } from "./observe";

export interface Terminal {
  /** Asks for a line. Undefined if there is none, or if the run is stopped. */
  readonly ask: (question: string) => Promise<string | undefined>;
  readonly print: (line: string) => void;
}

const introduction = `This observes a live account, to compare it with the local platform: it reads the lists of the account, and changes,
once each, what you name. What uses that stops working. Whatever belongs to the whole account is only read.
`;

/**
 * Changes a database, a vector index and a flow-control key of an account once each, after their ids were typed twice,
 * and prints in Markdown what differs from the local platform. No line contains a secret or an id.
 *
 * @returns the exit code
 */
export async function runLive(settings: Settings, { ask, print }: Terminal): Promise<number> {
  const sent: Subject[] = [];
  try {
    print(introduction);
    const ids = await askForIds(ask);
    const live = accountOf(settings, [...ids.keys()]);
    const platform = await startPlatform({
      databases: [ids.get("database") ?? "database"],
      vectorIndexes: [ids.get("index") ?? "index"],
      flowControlKeys: ["orders"],
      databasePath: "/v2/redis/database/{id}",
      credentials: "read",
    });
    try {
      const { url, username, password, queueToken } = platform;
      const local: Account = {
        services: { management: url, queue: url },
        management: live.management && { username, password },
        queueToken: live.queueToken && queueToken,
        known: { values: new Set(), ids: new Set([username]) },
      };
      const rows = await compare([live, local], readAccount);
      for (const [subject, id] of ids) {
        print(`\n${subjects[subject].plan}`);
        if ((await ask(`Type the id of the ${subject} again: `)) !== id) {
          print("Not changed.");
          continue;
        }
        print("Wait …");
        sent.push(subject);
        rows.push(...(await compare([live, local], (account) => changeOnce(subject, id, account))));
      }
      print(page(rows));
    } finally {
      await platform.close();
    }
  } catch (error) {
    // Of any other error only its kind: it may contain a secret.
    print(`\n${isOurs(error) ? error.message : `It failed: ${(error as Error).constructor.name}.`}`);
    print(sent.length === 0 ? "Nothing was changed." : `May have been changed: ${sent.join(", ")}.`);
    return 1;
  }
  const end = "The new credentials are in the console of the account.";
  print(sent.length === 0 ? "\nNothing was changed." : `\nA change was sent for: ${sent.join(", ")}. ${end}`);
  return 0;
}

/** The message may be shown. */
class StopError extends Error {}

function isOurs(error: unknown): error is Error {
  return error instanceof StopError || error instanceof RekeyError;
}

async function askForIds(ask: Terminal["ask"]): Promise<Map<Subject, string>> {
  const ids = new Map<Subject, string>();
  for (const subject of Object.keys(subjects) as Subject[]) {
    const id = await ask(`${subjects[subject].question} (empty to skip): `);
    if (id === undefined) throw new StopError("It was stopped.");
    if (id === "") continue;
    const problem = /[/:@\s]/.test(id) ? "must be an id, not an address" : pathPartProblem(id);
    if (problem !== undefined) throw new StopError(`The id ${problem}.`);
    ids.set(subject, id);
  }
  return ids;
}

/** The account of the settings. @throws SettingsError if a service that a subject needs cannot be used */
function accountOf(settings: Settings, chosen: readonly Subject[]): Account {
  const management = usable(settings, "management", chosen.includes("database") || chosen.includes("index"));
  const queue = usable(settings, "queue", chosen.includes("key"));
  if (!management && !queue) throw settings.errorFor("management") ?? new StopError("There is no account.");
  return {
    services: {
      management: management ? settings.require("baseUrl") : "",
      queue: queue ? settings.require("queueUrl") : "",
    },
    management: management && { username: settings.require("username"), password: settings.require("password") },
    queueToken: queue && settings.require("queueToken"),
    known: { values: new Set(settings.secrets), ids: new Set(management && [settings.require("username")]) },
  };
}

/** Whether a service can be used; undefined if not. @throws SettingsError if it is needed */
function usable(settings: Settings, service: keyof Account["services"], isNeeded: boolean): true | undefined {
  const error = settings.errorFor(service);
  if (error && isNeeded) throw error;
  return error ? undefined : true;
}

function page(rows: readonly string[]): string {
  const heading = `\n## Seen on ${new Date().toISOString().slice(0, 10)}\n`;
  if (rows.length === 0) return `${heading}\nNothing differs from the local platform.`;
  return [heading, "| request | what | this account | local platform |", "| --- | --- | --- | --- |", ...rows].join(
    "\n",
  );
}
