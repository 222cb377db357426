// The little that examples/hand-over uses of two packages that are too large to be installed for it, as in
// @pulumi/kubernetes 4.34.2 and @pulumi/aws 7.48.0.

declare module "@pulumi/kubernetes" {
  import type * as pulumi from "@pulumi/pulumi";
  export namespace core.v1 {
    interface SecretArgs {
      metadata?: pulumi.Input<{
        name?: pulumi.Input<string>;
        annotations?: pulumi.Input<Record<string, pulumi.Input<string>>>;
      }>;
      stringData?: pulumi.Input<Record<string, pulumi.Input<string>>>;
    }
    class Secret extends pulumi.CustomResource {
      constructor(name: string, args?: SecretArgs, opts?: pulumi.CustomResourceOptions);
      readonly metadata: pulumi.Output<{ name: string }>;
    }
  }
}

declare module "@pulumi/aws" {
  import type * as pulumi from "@pulumi/pulumi";
  export namespace secretsmanager {
    class Secret extends pulumi.CustomResource {
      constructor(name: string, args?: { name?: pulumi.Input<string> }, opts?: pulumi.CustomResourceOptions);
      readonly arn: pulumi.Output<string>;
    }
    class SecretVersion extends pulumi.CustomResource {
      constructor(
        name: string,
        args: { secretId: pulumi.Input<string>; secretString?: pulumi.Input<string> },
        opts?: pulumi.CustomResourceOptions,
      );
    }
  }
}
