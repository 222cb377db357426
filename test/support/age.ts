import { armor, Decrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { findOnPath } from "./processes";
import { type Properties } from "./wire";

/** Why the command `age` cannot run here; undefined if it can. */
export const whyNoAge = findOnPath("age") && findOnPath("age-keygen") ? undefined : "there is no `age` on PATH";

/** Who can decrypt credentials. */
export class Team {
  private constructor(
    readonly identity: string,
    readonly recipient: string,
  ) {}

  static async create(): Promise<Team> {
    const identity = await generateX25519Identity();
    return new Team(identity, await identityToRecipient(identity));
  }

  /** The JSON in an age file. @throws Error if the team cannot decrypt it */
  async decrypt(file: unknown): Promise<Properties> {
    const decrypter = new Decrypter();
    decrypter.addIdentity(this.identity);
    return JSON.parse(await decrypter.decrypt(armor.decode(String(file)), "text")) as Properties;
  }
}
