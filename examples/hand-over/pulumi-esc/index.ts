import * as pulumi from "@pulumi/pulumi";
import * as pulumiservice from "@pulumi/pulumiservice";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();
const rotation = new PasswordRotation("sessions", { databaseId: config.require("databaseId"), rotateEvery: "30d" });

export const password = rotation.password;
export const endpoint = rotation.endpoint;

// The environment reads the outputs of this stack when it is opened: it contains no secret and is always up to date.
const environment = {
  values: {
    stack: {
      "fn::open::pulumi-stacks": { stacks: { sessions: { stack: `${pulumi.getProject()}/${pulumi.getStack()}` } } },
    },
    environmentVariables: {
      SESSIONS_PASSWORD: "${stack.sessions.password}",
      SESSIONS_ENDPOINT: "${stack.sessions.endpoint}",
    },
  },
};

new pulumiservice.Environment("sessions", {
  organization: pulumi.getOrganization(),
  project: "databases",
  name: `sessions-${pulumi.getStack()}`,
  // JSON is YAML.
  yaml: new pulumi.asset.StringAsset(JSON.stringify(environment)),
});
