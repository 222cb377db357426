// Pulumi Deployments instead of a CI system: they run `pulumi up` on every merge and every night. Keep this program in
// another project than the one that rotates. In the `Pulumi.yaml` of that one, `options: { refresh: always }` reads
// each secret before an `up`, which does not see otherwise that someone has removed or changed it.
import * as pulumi from "@pulumi/pulumi";
import * as pulumiservice from "@pulumi/pulumiservice";

const config = new pulumi.Config();
const rotation = { organization: pulumi.getOrganization(), project: "rotation", stack: "production" };

const settings = new pulumiservice.DeploymentSettings("rotation", {
  ...rotation,
  sourceContext: { git: { branch: "refs/heads/main", repoDir: "rotation" } },
  vcs: {
    provider: "github",
    repository: config.require("repository"),
    deployCommits: true,
    // A preview would run the program of a pull request with the secrets of production.
    previewPullRequests: false,
    pullRequestTemplate: false,
  },
  operationContext: {
    environmentVariables: {
      REKEY_PLATFORM: "upstash",
      REKEY_USERNAME: config.require("username"),
      REKEY_PASSWORD: config.requireSecret("password"),
      // The limit of password resets in one run; it refuses more. Set it to what a usual night needs.
      REKEY_MAX_RESETS_PER_RUN: "5",
    },
  },
});

new pulumiservice.DeploymentSchedule(
  "nightly",
  { ...rotation, pulumiOperation: pulumiservice.PulumiOperation.Update, scheduleCron: "17 2 * * *" },
  { dependsOn: settings },
);
