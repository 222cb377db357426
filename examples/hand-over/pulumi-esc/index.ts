import * as pulumi from "@pulumi/pulumi";
import * as pulumiservice from "@pulumi/pulumiservice";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();
const rotation = new PasswordRotation("sessions", {
  databaseId: config.require("databaseId"),
  initialRotation: false, // without this line, the first `pulumi up` resets the password
  rotateEvery: "30d",
});

// Fails with the reason, so that no consumer gets an empty address.
export const url = pulumi.all([rotation.connectionUrl, rotation.outcome]).apply(([known, outcome]) => {
  if (known !== undefined) return known;
  throw new pulumi.RunError(
    outcome === "adopted"
      ? "The database was adopted, and its password is not known before its first reset. Add the consumers after it, or set a version now."
      : "The password was reset, but the platform neither sent nor showed the new one. Look for it in the console of the platform.",
  );
});

// The environment reads the outputs of this stack when it is opened: it contains no secret and is always up to date.
const environment = {
  values: {
    stack: {
      "fn::open::pulumi-stacks": { stacks: { sessions: { stack: `${pulumi.getProject()}/${pulumi.getStack()}` } } },
    },
    environmentVariables: {
      SESSIONS_DATABASE_URL: "${stack.sessions.url}",
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
