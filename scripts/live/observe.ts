import {
  CredentialVerification,
  FlowControlLimits,
  FlowControlReset,
  PasswordRotation,
  VectorTokenRotation,
} from "pulumi-rekey";
import { MemoryStack, MemoryStackError } from "../../local/memoryStack";
import { differencesOf, type Known, type Seen, seenIn } from "./compare";
import { Recorder, type Services } from "./recorder";

/** An account that is observed: a live one, or that of the local platform. */
export interface Account {
  readonly services: Services;
  /** Undefined if the service is not used. */
  readonly management?: { readonly username: string; readonly password: string } | undefined;
  readonly queueToken?: string | undefined;
  readonly known: Known;
}

export type Subject = keyof typeof subjects;

const limits = { parallelism: 1, rate: 1, period: 60 };

/** What is changed once: the POSTs that may be sent, and the operations of a stack that send them. */
export const subjects = {
  database: {
    question: "Id of a database that is NOT IN USE",
    plan: "Resets its password and REST tokens once, then tries the former and the new password.",
    permitted: (id: string) => [`/v2/redis/reset-password/${id}`],
    run: adoptAndReset(
      (databaseId, version) => new PasswordRotation("database", { databaseId, initialRotation: false, ...version }),
    ),
  },
  index: {
    question: "Id of a vector index that is NOT IN USE",
    plan: "Resets its tokens once, then tries the former and the new one.",
    permitted: (id: string) => [`/v2/vector/index/${id}/reset-password`],
    run: adoptAndReset(
      (indexId, version) => new VectorTokenRotation("index", { indexId, initialRotation: false, ...version }),
    ),
  },
  key: {
    question: "A flow-control key that is NOT IN USE",
    plan: "Pauses, pins, resets, resumes and unpins it, once each. Its former limits and a former pause are lost.",
    permitted: (id: string) => [
      ...["pause", "pin?parallelism=1&rate=1&period=60", "reset", "resetRate", "resume"].map(
        (action) => `/v2/flowControl/${id}/${action}`,
      ),
      `/v2/flowControl/${id}/unpin?parallelism=true&rate=true`,
    ],
    run: limitAndReset,
  },
} as const;

/** What is read of a whole account, which is never changed. */
const reads = {
  management: ["/v2/redis/databases", "/v2/vector/index", "/v2/search", "/v2/qstash/users"],
  queue: ["/v2/keys", "/v2/globalParallelism", "/v2/flowControl"],
};

/** Characters of the shortest text of an account that cannot be one of our own words, such as "false". */
const leastHidden = 6;
/** Nothing has this id. */
const unknownId = "00000000-0000-4000-8000-00000000ffff";

/** Observes the same in two accounts. @returns the lines of a table of what differs in the first one */
export async function compare(
  accounts: readonly [live: Account, local: Account],
  observe: (account: Account) => Promise<Seen>,
): Promise<string[]> {
  const [live, local] = [await observe(accounts[0]), await observe(accounts[1])];
  return differencesOf(live, local);
}

/** Reads what belongs to a whole account. */
export async function readAccount(account: Account): Promise<Seen> {
  const { management, queueToken, known } = account;
  const recorder = await Recorder.start(account.services, []);
  try {
    // The recorder notes a response that is missing or not JSON.
    const get = (service: keyof Services, path: string, authorization: string): Promise<unknown> =>
      fetch(recorder.services[service] + path, { headers: { authorization } })
        .then((response) => response.json())
        .catch(() => undefined);
    if (management) {
      const { username, password } = management;
      const basic = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
      let users: unknown;
      for (const path of reads.management) users = await get("management", path, basic);
      const [user] = Array.isArray(users) ? (users as { id?: unknown }[]) : [];
      if (typeof user?.id === "string") {
        known.ids.add(user.id);
        await get("management", `/v2/qstash/user/${encodeURIComponent(user.id)}`, basic);
      }
      known.ids.add(unknownId);
      await get("management", `/v2/redis/database/${unknownId}`, basic);
    }
    if (queueToken !== undefined) {
      for (const path of reads.queue) await get("queue", path, `Bearer ${queueToken}`);
    }
    return seenIn(recorder.exchanges, known);
  } finally {
    recorder.close();
  }
}

/** Changes one thing of an account once, as a program with Rekey does. */
export async function changeOnce(subject: Subject, id: string, account: Account): Promise<Seen> {
  const { services, management, queueToken, known } = account;
  const { permitted, run } = subjects[subject];
  known.ids.add(id);
  const recorder = await Recorder.start(services, permitted(encodeURIComponent(id)));
  try {
    const outputs = await run(id, {
      "rekey:platform": "upstash",
      "rekey:baseUrl": recorder.services.management,
      "rekey:queueUrl": recorder.services.queue,
      ...(management && { "rekey:username": management.username, "rekey:password": { secret: management.password } }),
      ...(queueToken !== undefined && { "rekey:queueToken": { secret: queueToken } }),
    });
    const seen = seenIn(recorder.exchanges, known);
    return new Map([...seen, ["result", new Map([["body", shown(outputs, known)]])]]);
  } finally {
    recorder.close();
  }
}

/** The values of outputs, or the errors of failed operations. */
type Outputs = Readonly<Record<string, string>>;

/**
 * Adopts a secret and verifies it, so that the former credential is known, then resets it once and verifies both.
 *
 * @param rotationOf declares the rotation of a program
 */
function adoptAndReset(
  rotationOf: (id: string, version: { version?: string }) => PasswordRotation | VectorTokenRotation,
): (id: string, config: MemoryStack["config"]) => Promise<Outputs> {
  return async (id, config) => {
    let version = {};
    const stack = new MemoryStack(() => {
      const { access, outcome, problems } = rotationOf(id, version);
      const { verified, formerRefused } = new CredentialVerification("verification", { access });
      return { outcome, problems, verified, formerRefused };
    }, config);
    const adopted = await resultOf(stack.up());
    version = { version: "1" };
    return { ...prefixed("adoption", adopted), ...prefixed("reset", await resultOf(stack.up())) };
  };
}

/** Everything that limits the key ends with it, also after a failure. */
async function limitAndReset(flowControlKey: string, config: MemoryStack["config"]): Promise<Outputs> {
  let paused = true;
  const program = () => {
    const dependsOn = new FlowControlLimits("key", { flowControlKey, ...limits, paused });
    const { before } = new FlowControlReset("key", { flowControlKey }, { dependsOn });
    return { existed: before.apply((state) => state !== undefined) };
  };
  const stack = new MemoryStack(program, config);
  const limited = await resultOf(stack.up());
  paused = false;
  const resumed = await resultOf(stack.up());
  const unpinned = await resultOf(stack.destroy());
  return { ...prefixed("limits", limited), ...prefixed("resume", resumed), ...prefixed("removal", unpinned) };
}

function prefixed(prefix: string, outputs: Outputs): Outputs {
  return Object.fromEntries(Object.entries(outputs).map(([name, value]) => [`${prefix} ${name}`, value]));
}

async function resultOf(operation: ReturnType<MemoryStack["up"]>): Promise<Outputs> {
  try {
    const { outputs } = await operation;
    const values = Object.entries(outputs).map(([name, output]) => [name, JSON.stringify(output?.value) ?? "none"]);
    return Object.fromEntries(values) as Outputs;
  } catch (error) {
    if (error instanceof MemoryStackError) return { error: error.message };
    throw error;
  }
}

/** Outputs without ids, and without anything that the account has sent. */
function shown(outputs: Outputs, { values, ids }: Known): string {
  const hidden = [...ids, ...[...values].filter((text) => text.length >= leastHidden)];
  let text = Object.entries(outputs)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");
  for (const one of hidden.sort((a, b) => b.length - a.length)) text = text.replaceAll(one, "…");
  return text.replaceAll("|", "\\|").replace(/\s+/g, " ");
}
