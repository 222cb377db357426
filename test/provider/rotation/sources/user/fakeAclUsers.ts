import { type AclUser, hashOf, type ServerFacts } from "../../../../../provider/clients/aclReplies";
import { type AclUsers, type MadePassword } from "../../../../../provider/clients/aclUsers";
import { type ProbeRequest, type ProbeResult } from "../../../../../provider/clients/probe";
import { type Platform } from "../../../../../provider/run/run";

interface Commands extends Pick<AclUsers, keyof AclUsers> {
  /** Logs in as a user. */
  prove(request: ProbeRequest): Promise<ProbeResult>;
}

type Reply<K extends keyof Commands> = () => Awaited<ReturnType<Commands[K]>>;

/** A user of a server in memory, which records the commands, and does in place of them what a test wants. */
export class FakeAclUsers implements Commands {
  /** The parts of a platform that reach it. */
  readonly parts: Partial<Platform> = {
    aclUsers: () => this as unknown as AclUsers,
    probe: (request) => this.prove(request),
  };
  readonly commands: string[] = [];
  hashes: string[];
  /** Whether the server makes tokens. */
  makesTokens = false;
  /** What happens in place of a command. */
  instead: { readonly [K in keyof Commands]?: Reply<K> } = {};
  /** How the server hashes a token. */
  hashOfToken = hashOf;
  #made = 0;

  constructor(passwords: readonly string[]) {
    this.hashes = passwords.map(hashOf);
  }

  read(): Promise<AclUser | undefined> {
    return this.#run("read", () => ({ isOn: true, hasNoPassword: false, hashes: [...this.hashes] }));
  }

  readServer(): Promise<ServerFacts | "not permitted"> {
    return this.#run("readServer", () => ({ isReplica: false, isCluster: false, isSentinel: false, replicas: 0 }));
  }

  make(): Promise<MadePassword> {
    return this.#run("make", () => ({ value: `made-${++this.#made}`, isToken: this.makesTokens }));
  }

  add(_userName: string, { value, isToken }: MadePassword): Promise<void> {
    return this.#run("add", () => void this.hashes.push(isToken ? this.hashOfToken(value) : hashOf(value)));
  }

  remove(_userName: string, removed: readonly string[]): Promise<void> {
    if (removed.length === 0) return Promise.resolve();
    return this.#run("remove", () => {
      this.hashes = this.hashes.filter((one) => !removed.includes(one));
    });
  }

  save(): Promise<"saved" | "no file" | "not permitted"> {
    return this.#run("save", () => "saved");
  }

  prove({ credential: { value } }: ProbeRequest): Promise<ProbeResult> {
    return this.#run("prove", () => {
      const isValid = [hashOf(value), this.hashOfToken(value)].some((hash) => this.hashes.includes(hash));
      return isValid ? { kind: "accepted" } : { kind: "refused", words: "WRONGPASS no" };
    });
  }

  async #run<K extends keyof Commands>(name: K, act: Reply<K>): Promise<Awaited<ReturnType<Commands[K]>>> {
    this.commands.push(name);
    const { [name]: instead } = this.instead;
    return (instead ?? act)();
  }
}
