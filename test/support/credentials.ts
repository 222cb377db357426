import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Receiver } from "@upstash/qstash";
import { type Platform } from "../../local/index";
import { Crypter } from "../../local/engine/secrets";
import { queue } from "../local/platform/client";
import { Destination } from "../local/platform/queue/destination";
import { leaksOf } from "./canaries";
import { passphrase } from "./engineProcess";
import { textsBelow } from "./files";
import { type Project } from "./project";
import { databaseReply } from "./redis";
import { type Properties } from "./wire";

/** The credentials of one secret at the platform, by the names of the outputs. */
export const credentialsAt = {
  database: (platform: Platform, id: string) => {
    const { password, restToken, readOnlyRestToken } = platform.database(id);
    return { password, restToken, readOnlyRestToken };
  },
  vectorIndex: (platform: Platform, id: string) => tokensOf(platform.vectorIndexes.get(id)),
  searchIndex: (platform: Platform, id: string) => tokensOf(platform.searchIndexes.get(id)),
  queueUser: (platform: Platform, id: string) => tokensOf(platform.queueUsers.get(id)),
  signingKeys: ({ signingKeys: { current, next } }: Platform) => ({ currentKey: current, nextKey: next }),
};

function tokensOf(resource: { readonly token: string; readonly readOnlyToken: string } | undefined) {
  assert.ok(resource);
  const { token, readOnlyToken } = resource;
  return { token, readOnlyToken };
}

/** Sends a request with credentials, which the platform must accept. */
export const useCredentials = {
  database: async (_platform: Platform, { connectionUrl }: Properties): Promise<void> => {
    const { hostname: endpoint, port, password } = new URL(String(connectionUrl));
    const reply = await databaseReply({ endpoint, port }, ["AUTH", decodeURIComponent(password)], ["PING"]);
    assert.equal(reply, "+OK\r\n+PONG\r\n");
  },
  index: async (_platform: Platform, { restUrl, token }: Properties): Promise<void> => {
    await accepts(`${String(restUrl)}/info`, token);
  },
  queueUser: async ({ url }: Platform, { token, readOnlyToken }: Properties): Promise<void> => {
    for (const one of [token, readOnlyToken]) await accepts(`${url}/v2/schedules`, one);
  },
  /** A receiver that knows these keys accepts a message. */
  signingKeys: async (platform: Platform, { currentKey, nextKey }: Properties): Promise<void> => {
    const destination = await new Destination().start();
    try {
      await queue(platform, "POST", `/publish/${destination.url}/hook`, { body: "signed" });
      await destination.arrived(1);
      const { headers, body } = destination.deliveries[0] ?? assert.fail();
      const keys = { currentSigningKey: String(currentKey), nextSigningKey: String(nextKey) };
      const receiver = new Receiver({ ...keys, devMode: false });
      const signature = String(headers["upstash-signature"]);
      assert.ok(await receiver.verify({ signature, body, url: `${destination.url}/hook` }));
    } finally {
      await destination.close();
    }
  },
};

async function accepts(url: string, token: unknown): Promise<void> {
  const { status } = await fetch(url, { headers: { authorization: `Bearer ${String(token)}` } });
  assert.equal(status, 200, url);
}

/** Everything that a test sees of a stack, and the credentials that the platform has issued meanwhile. */
export class Watch {
  readonly canaries: Record<string, string> = {};
  readonly #lines = new Set<string>();

  constructor(readonly project: Project) {}

  /** Adds the current credentials of a platform. */
  note({ databases, vectorIndexes, searchIndexes, queueUsers, signingKeys }: Platform): void {
    const issued = [
      ...[...databases.values()].flatMap((one) => [one.password, one.restToken, one.readOnlyRestToken]),
      ...[vectorIndexes, searchIndexes, queueUsers].flatMap((all) =>
        [...all.values()].flatMap((one) => [one.token, one.readOnlyToken]),
      ),
      signingKeys.current,
      signingKeys.next,
    ];
    for (const one of issued) this.canaries[one] = one;
  }

  /** Adds texts that someone may see, line by line: states repeat most of them. */
  see(...texts: readonly string[]): void {
    for (const text of texts) for (const line of text.split("\n")) this.#lines.add(line);
  }

  /** Asserts that no credential is in what was seen, in the files of the project, and in what they have encrypted. */
  async assertNoLeak(): Promise<void> {
    const files = textsBelow(this.project.directory);
    this.see(...files);
    const secrets = await this.#decrypted(files.join("\n"));
    assert.ok(secrets.length > 0 && Object.keys(this.canaries).length > 0);
    assert.deepEqual(leaksOf([...this.#lines, ...secrets].join("\n"), this.canaries), []);
  }

  /** The secrets of the stack in a text, which everyone can read who has its passphrase. */
  async #decrypted(text: string): Promise<string[]> {
    const settings = readFileSync(this.project.path("Pulumi.dev.yaml"), "utf8");
    const crypter = await Crypter.open(passphrase, /encryptionsalt: (\S+)/.exec(settings)?.[1] ?? "");
    const sealed = new Set(text.match(/v1:[\w+/]{16}:[\w+/]+=*/g));
    return [...sealed].map((one) => crypter.decrypt(one));
  }
}
