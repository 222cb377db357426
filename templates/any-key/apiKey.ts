import * as pulumi from "@pulumi/pulumi";

/** Creates and deletes keys at `server.cjs`, as the provider of a vendor does. */
const provider: pulumi.dynamic.ResourceProvider<{ server: string }, { server: string; key: string }> = {
  async create({ server }) {
    const response = await fetch(`${server}/keys`, { method: "POST" });
    if (response.status !== 201) throw new Error(`the server has not created a key: ${response.status}`);
    const { id, key } = (await response.json()) as { id: string; key: string };
    return { id, outs: { server, key } };
  },
  async delete(id, { server }) {
    await fetch(`${server}/keys/${id}`, { method: "DELETE" });
  },
};

export class ApiKey extends pulumi.dynamic.Resource {
  declare readonly key: pulumi.Output<string>;

  constructor(name: string, { server }: { server: string }, options?: pulumi.CustomResourceOptions) {
    const secret = pulumi.mergeOptions(options, { additionalSecretOutputs: ["key"] });
    super(provider, name, { server, key: undefined }, secret);
  }
}
