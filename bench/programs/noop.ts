// One resource that does nothing: what an `up` costs before there is anything to do.
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
