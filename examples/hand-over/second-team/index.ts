import * as github from "@pulumi/github";
import * as pulumi from "@pulumi/pulumi";

const config = new pulumi.Config();

// The stack that rotates: <organization>/<project>/<stack>. It has a secret output `url`, as in ../pulumi-esc.
const databases = new pulumi.StackReference(config.require("databases"));

new github.ActionsSecret("sessions", {
  repository: config.require("repository"),
  secretName: "SESSIONS_DATABASE_URL",
  // A secret output stays secret. One that does not exist fails the run.
  value: databases.requireOutput("url"),
});
