import { saltedMark } from "../../provider/rotation/memory/marks";
import { type Memory, readMemory, unsealed } from "../../provider/rotation/memory/memory";
import { type Team } from "../support/age";
import { type Stack } from "../support/stack";
import { type Properties } from "../support/wire";
import { valuesIn } from "./account";
import { type Subject } from "./steps";
import { type Seen } from "./taken";

/** What a state has of the secrets of a resource. */
export interface Saved {
  /** Those that the outputs have, by their ids. */
  readonly secrets: ReadonlyMap<string, Seen>;
  /** The values in the state, and in age files. */
  readonly inState: ReadonlySet<string>;
  readonly inFile: ReadonlySet<string>;
  /** All outputs, for a comparison. */
  readonly text: string;
}

/** Reads what was saved. Most steps leave it as it is: it is read once. */
export class SavedReader {
  readonly #files = new Map<unknown, Promise<Properties>>();
  #last: { readonly of: Stack["saved"]; readonly read: Promise<Saved> } | undefined;

  constructor(
    private readonly subject: Subject,
    private readonly team: Team,
  ) {}

  read(stack: Stack): Promise<Saved> {
    const { saved } = stack;
    if (!this.#last || this.#last.of !== saved) this.#last = { of: saved, read: this.#read(stack.plain) };
    return this.#last.read;
  }

  async #read(plain: Properties): Promise<Saved> {
    const outputs = await this.#withFiles(plain);
    const secrets = this.subject.ids.flatMap((id) => {
      const seen = this.#seen(outputs, id);
      return seen ? [[id, seen] as const] : [];
    });
    return {
      secrets: new Map(secrets),
      inState: valuesIn({ ...outputs, encryptedCredentials: undefined }),
      inFile: valuesIn(outputs["encryptedCredentials"]),
      text: numbered(outputs),
    };
  }

  /** The outputs, with what is in age files. */
  async #withFiles({ __provider, encryptedCredentials, ...outputs }: Properties): Promise<Properties> {
    if (encryptedCredentials === undefined) return outputs;
    if (!this.#isFleet) return { ...outputs, encryptedCredentials: await this.#decrypted(encryptedCredentials) };
    const files = Object.entries(encryptedCredentials as Properties);
    const decrypted = files.map(async ([name, file]) => [name, await this.#decrypted(file)] as const);
    return { ...outputs, encryptedCredentials: Object.fromEntries(await Promise.all(decrypted)) };
  }

  /** An age file that stays is decrypted once. */
  #decrypted(file: unknown): Promise<Properties> {
    const known = this.#files.get(file) ?? this.team.decrypt(file);
    this.#files.set(file, known);
    return known;
  }

  #seen(saved: Properties, id: string): Seen | undefined {
    const { memory: text, encryptedCredentials } = saved;
    if (text === undefined) return undefined;
    const { outputs, memory, file } = this.#isFleet
      ? inFleet(saved, id)
      : { outputs: saved, memory: readMemory(text), file: encryptedCredentials };
    if (memory === undefined || outputs["outcome"] === "none") return undefined;
    const [best] = this.subject.kind.identities;
    const values = [outputs, (file ?? {}) as Properties].flatMap((one) => (one[best] as string | undefined) ?? []);
    const value = values.find((one) => saltedMark(memory.salt, one) === memory.current.marks[best]);
    return { ...(outputs as unknown as Seen), memory, value, outputs };
  }

  get #isFleet(): boolean {
    return this.subject.type === "PasswordRotationFleet";
  }
}

/** A secret in the outputs of a fleet, by the id of its database. */
function inFleet(saved: Properties, id: string): { outputs: Properties; memory: Memory | undefined; file: unknown } {
  const all = Object.entries(saved["states"] as Record<string, Properties>);
  const [name = "", state = { outcome: "none" }] = all.find(([, { databaseId }]) => databaseId === id) ?? [];
  const access = JSON.parse(saved["access"] as string) as Record<string, { count: number }>;
  const credentials = (saved["credentials"] as Record<string, Properties>)[name];
  const { databases } = unsealed<{ databases: Record<string, Memory | undefined> }>(
    JSON.parse(saved["memory"] as string),
  );
  return {
    outputs: { ...state, rotationCount: access[name]?.count, ...credentials },
    memory: databases[id] && { ...databases[id], kindFacts: {} },
    file: (saved["encryptedCredentials"] as Properties | undefined)?.[name],
  };
}

/** Outputs as text, with marks and salts by the order in which they occur. */
export function numbered({ __provider, ...outputs }: Properties): string {
  const marks: string[] = [];
  const sorted = Object.fromEntries(Object.entries(outputs).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify(sorted).replace(/(?<=\\")[\w-]{16}(?=\\+")/g, (mark) => {
    if (!marks.includes(mark)) marks.push(mark);
    return `mark ${marks.indexOf(mark)}`;
  });
}
