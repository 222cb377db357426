// The little that examples use of the providers of others, as in @pulumi/github 6.15.0, @pulumi/pulumiservice 1.3.0,
// @pulumiverse/vercel 5.4.1, @pulumi/kubernetes 4.34.2 and @pulumi/aws 7.48.0.

declare module "@pulumi/github" {
  import type * as pulumi from "@pulumi/pulumi";
  interface ActionsSecretArgs {
    repository: pulumi.Input<string>;
    secretName: pulumi.Input<string>;
    value?: pulumi.Input<string>;
  }
  class ActionsSecret extends pulumi.CustomResource {
    constructor(name: string, args: ActionsSecretArgs, opts?: pulumi.CustomResourceOptions);
  }
}

declare module "@pulumi/pulumiservice" {
  import type * as pulumi from "@pulumi/pulumi";
  interface StackArgs {
    organization: pulumi.Input<string>;
    project: pulumi.Input<string>;
    stack: pulumi.Input<string>;
  }
  interface EnvironmentArgs {
    organization: pulumi.Input<string>;
    project?: pulumi.Input<string>;
    name: pulumi.Input<string>;
    yaml: pulumi.Input<pulumi.asset.Asset>;
  }
  interface DeploymentSettingsArgs extends StackArgs {
    sourceContext?: pulumi.Input<{
      git?: pulumi.Input<{ branch?: pulumi.Input<string>; repoDir?: pulumi.Input<string> }>;
    }>;
    vcs?: pulumi.Input<{
      provider: pulumi.Input<string>;
      repository?: pulumi.Input<string>;
      deployCommits?: pulumi.Input<boolean>;
      previewPullRequests?: pulumi.Input<boolean>;
      pullRequestTemplate?: pulumi.Input<boolean>;
    }>;
    operationContext?: pulumi.Input<{ environmentVariables?: pulumi.Input<Record<string, pulumi.Input<string>>> }>;
  }
  interface DeploymentScheduleArgs extends StackArgs {
    pulumiOperation: pulumi.Input<PulumiOperation>;
    scheduleCron?: pulumi.Input<string>;
  }
  export enum PulumiOperation {
    Update = "update",
  }
  class Environment extends pulumi.CustomResource {
    constructor(name: string, args: EnvironmentArgs, opts?: pulumi.CustomResourceOptions);
  }
  class DeploymentSettings extends pulumi.CustomResource {
    constructor(name: string, args: DeploymentSettingsArgs, opts?: pulumi.CustomResourceOptions);
  }
  class DeploymentSchedule extends pulumi.CustomResource {
    constructor(name: string, args: DeploymentScheduleArgs, opts?: pulumi.CustomResourceOptions);
  }
}

declare module "@pulumiverse/vercel" {
  import type * as pulumi from "@pulumi/pulumi";
  interface VariableArgs {
    projectId: pulumi.Input<string>;
    key: pulumi.Input<string>;
    value?: pulumi.Input<string>;
    targets?: pulumi.Input<pulumi.Input<string>[]>;
    sensitive?: pulumi.Input<boolean>;
  }
  interface DeploymentArgs {
    projectId: pulumi.Input<string>;
    ref?: pulumi.Input<string>;
    production?: pulumi.Input<boolean>;
    meta?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  }
  class ProjectEnvironmentVariable extends pulumi.CustomResource {
    constructor(name: string, args: VariableArgs, opts?: pulumi.CustomResourceOptions);
  }
  class Deployment extends pulumi.CustomResource {
    constructor(name: string, args: DeploymentArgs, opts?: pulumi.CustomResourceOptions);
    readonly url: pulumi.Output<string>;
  }
}

declare module "@pulumi/kubernetes" {
  import type * as pulumi from "@pulumi/pulumi";
  type Texts = pulumi.Input<Record<string, pulumi.Input<string>>>;
  interface Metadata {
    name?: pulumi.Input<string>;
    labels?: Texts;
    annotations?: Texts;
  }
  class Provider extends pulumi.ProviderResource {
    constructor(name: string, args?: { enableSecretMutable?: pulumi.Input<boolean> }, opts?: pulumi.ResourceOptions);
  }
  export namespace core.v1 {
    interface SecretArgs {
      metadata?: pulumi.Input<Metadata>;
      stringData?: Texts;
    }
    class Secret extends pulumi.CustomResource {
      constructor(name: string, args?: SecretArgs, opts?: pulumi.CustomResourceOptions);
      readonly metadata: pulumi.Output<{ name: string }>;
    }
  }
  export namespace apps.v1 {
    interface Variable {
      name: pulumi.Input<string>;
      valueFrom?: pulumi.Input<{
        secretKeyRef?: pulumi.Input<{ name?: pulumi.Input<string>; key: pulumi.Input<string> }>;
      }>;
    }
    interface Container {
      name: pulumi.Input<string>;
      image?: pulumi.Input<string>;
      env?: pulumi.Input<pulumi.Input<Variable>[]>;
    }
    interface PodTemplate {
      metadata?: pulumi.Input<Metadata>;
      spec?: pulumi.Input<{ containers: pulumi.Input<pulumi.Input<Container>[]> }>;
    }
    interface DeploymentSpec {
      replicas?: pulumi.Input<number>;
      selector: pulumi.Input<{ matchLabels?: Texts }>;
      template: pulumi.Input<PodTemplate>;
    }
    class Deployment extends pulumi.CustomResource {
      constructor(
        name: string,
        args?: { metadata?: pulumi.Input<Metadata>; spec?: pulumi.Input<DeploymentSpec> },
        opts?: pulumi.CustomResourceOptions,
      );
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

// Generated by `pulumi package add` for examples/languages/nodejs.
declare module "@rekey/rekey" {
  import type * as pulumi from "@pulumi/pulumi";
  class Provider extends pulumi.ProviderResource {
    constructor(
      name: string,
      args: { platform: string; baseUrl: string; username: string; password: pulumi.Input<string> },
      opts?: pulumi.ResourceOptions,
    );
  }
  class PasswordRotation extends pulumi.CustomResource {
    constructor(
      name: string,
      args: { databaseId: string; initialRotation: boolean; version: number },
      opts?: pulumi.CustomResourceOptions,
    );
    readonly password: pulumi.Output<string | undefined>;
    readonly access: pulumi.Output<string>;
  }
  class CredentialVerification extends pulumi.CustomResource {
    constructor(name: string, args: { access: pulumi.Input<string> });
    readonly verifiedAt: pulumi.Output<string>;
  }
  class FlowControlReset extends pulumi.CustomResource {
    constructor(name: string, args: { flowControlKey: string; version: number });
    readonly resetAt: pulumi.Output<string>;
  }
  function getFlowControlKeyOutput(args: { flowControlKey: string }): pulumi.Output<{ waitListSize: number }>;
}
