import assert from "node:assert/strict";
import { Encrypter } from "age-encryption";
import { type Properties } from "../../provider/records/properties";
import { type Credentials } from "../../provider/records/credentials";
import { leaksOf } from "./canaries";
import { asShown, FakeRun } from "./fakeRun";
import { type SecretSubject } from "./secretSubjects";

/** A stack with one secret, at a platform that it may be able to read. */
export class SecretStack {
  readonly fake = new FakeRun();
  /** How often the secret was changed at the platform. */
  generation = 0;
  saved: Properties | undefined;
  readonly #resource;

  constructor(readonly subject: SecretSubject) {
    this.#resource = asShown(subject.resource);
    this.fake.canRead = true;
    this.fake.answer = () => {
      this.generation++;
      return subject.resource.outputs.includes("indexId") ? {} : this.#shown();
    };
    this.fake.readDatabase = () => this.#shown();
  }

  get current(): Credentials {
    return this.subject.credentials(this.generation);
  }

  get single(): Properties {
    return this.subject.single(this.saved ?? {});
  }

  /** The saved credentials. */
  get values(): Credentials {
    const names = Object.keys(this.current);
    return Object.fromEntries(Object.entries(this.single).filter(([name]) => names.includes(name)));
  }

  #shown() {
    const { table } = this.subject.kind;
    const record = table.id === undefined ? {} : { [table.id]: "db-1", endpoint: "bold-fox", port: 1 };
    return { record, credentials: this.current, otherFields: '{"canary-field":1}' };
  }

  diff(version: number, more: Properties = {}) {
    return this.#resource.diff(this.saved ?? {}, this.subject.inputs(version, more), this.fake.start());
  }

  check(more: Properties, unknown = new Set<string>()) {
    const inputs = this.subject.inputs(1, more);
    return this.#resource.check(inputs, unknown, this.fake.start()).map(({ reason }) => reason);
  }

  async up(version: number, more: Properties = {}) {
    const inputs = this.subject.inputs(version, more);
    const result = await this.#resource.apply(this.saved, inputs, this.fake.start());
    this.saved = result.outputs;
    return result;
  }

  async refresh() {
    const result = await this.#resource.refresh(this.saved ?? {}, this.fake.start());
    this.saved = result.outputs;
    return result;
  }

  assertNoCanary(): void {
    const generations = [...Array(12).keys()].flatMap((generation) =>
      Object.values(this.subject.credentials(generation) as Record<string, string>),
    );
    const canaries = Object.fromEntries([...new Set([...generations, "canary-field"])].map((one) => [one, one]));
    assert.deepEqual(leaksOf(JSON.stringify(this.saved), canaries), []);
  }
}

/** Calls a function while credentials cannot be encrypted: the recipients can be used, but the library fails. */
export async function whileEncryptionFails<T>(act: () => Promise<T>): Promise<T> {
  const { encrypt } = Encrypter.prototype as { encrypt: unknown };
  const failing = function (this: Encrypter, text: string): unknown {
    if (text !== "") throw new Error(`cannot encrypt ${text}`);
    return (encrypt as (text: string) => unknown).call(this, text);
  };
  Object.assign(Encrypter.prototype, { encrypt: failing });
  try {
    return await act();
  } finally {
    Object.assign(Encrypter.prototype, { encrypt });
  }
}
