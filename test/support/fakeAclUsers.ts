import { type AclUser, hashOf, type ServerFacts } from "../../provider/clients/aclReplies";
import { type AclUsers, type MadePassword } from "../../provider/clients/aclUsers";
import { type ProbeResult } from "../../provider/clients/probe";

type Reply<K extends keyof AclUsers> = () => Awaited<ReturnType<AclUsers[K]>>;

/** A user of a server in memory, which records the commands, and does in place of them what a test wants. */
export class FakeAclUsers implements Pick<AclUsers, keyof AclUsers> {
  readonly commands: string[] = [];
  hashes: string[];
  /** Whether the server makes tokens. */
  makesTokens = false;
  /** What happens in place of a command. */
  instead: { readonly [K in keyof AclUsers]?: Reply<K> } = {};
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

  remove(_userName: string, hash: string): Promise<void> {
    return this.#run("remove", () => {
      this.hashes = this.hashes.filter((one) => one !== hash);
    });
  }

  save(): Promise<"saved" | "no file" | "not permitted"> {
    return this.#run("save", () => "saved");
  }

  prove(_userName: string, value: string): Promise<ProbeResult> {
    return this.#run("prove", () => {
      const isValid = [hashOf(value), this.hashOfToken(value)].some((hash) => this.hashes.includes(hash));
      return isValid ? { kind: "accepted" } : { kind: "refused", words: "WRONGPASS no" };
    });
  }

  async #run<K extends keyof AclUsers>(name: K, act: Reply<K>): Promise<Awaited<ReturnType<AclUsers[K]>>> {
    this.commands.push(name);
    const { [name]: instead } = this.instead;
    return (instead ?? act)();
  }
}
