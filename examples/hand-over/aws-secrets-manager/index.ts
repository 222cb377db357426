import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation, CredentialVerification } from "pulumi-rekey";

const config = new pulumi.Config();
const rotation = new PasswordRotation("sessions", {
  databaseId: config.require("databaseId"),
  initialRotation: false, // without this line, the first `pulumi up` resets the password
  rotateEvery: "30d",
});
const verification = new CredentialVerification("sessions", { access: rotation.access });

// Fails with the reason, so that no consumer gets an empty address.
const url = pulumi.all([rotation.connectionUrl, rotation.outcome]).apply(([known, outcome]) => {
  if (known !== undefined) return known;
  throw new pulumi.RunError(
    outcome === "adopted"
      ? "The database was adopted, and its password is not known before its first reset. Add the consumers after it, or set a version now."
      : "The password was reset, but the platform neither sent nor showed the new one. Look for it in the console of the platform.",
  );
});

const secret = new aws.secretsmanager.Secret("sessions", { name: "sessions-database" });
// Consumers read the new password only after the database has accepted it.
new aws.secretsmanager.SecretVersion(
  "sessions",
  { secretId: secret.id, secretString: url },
  { dependsOn: verification },
);

export const secretArn = secret.arn;
