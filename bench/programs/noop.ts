// One resource that does nothing, to measure the overhead of an `up`.
import * as pulumi from "@pulumi/pulumi";

const provider: pulumi.dynamic.ResourceProvider = {
  async create() {
    return { id: "nothing", outs: {} };
  },
};

class Nothing extends pulumi.dynamic.Resource {
  constructor(name: string) {
    super(provider, name, {});
  }
}

new Nothing("nothing");
